/** Asks every two seconds while somebody looks, draws what came, and says so when nothing comes. */

import { ask, type Answer } from './ask.js';
import { cardsView } from './cards-view.js';
import { decisionsView } from './decisions-view.js';
import { byId, setText, show } from './dom.js';
import { gateView, titleOf } from './gate-view.js';
import type { Status } from './status.js';
import { createToken } from './token.js';
import { clockTime, lasting } from './words.js';

const EVERY_MS = 2000;
/** The gate answers with a look of at most a few seconds ago; older than this, something holds it up. */
const OLD_MS = 15_000;

/** The last good answer; `atMs` and `wallMs` are when it came, by the clock that never jumps and by the reader's own. */
let last: { readonly status: Status; readonly atMs: number; readonly wallMs: number } | null = null;
let trouble: Exclude<Answer, { kind: 'status' }> | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;
/** Of two questions under way, the later counts. */
let question = 0;

const drawGate = gateView();
const drawCards = cardsView();
const drawDecisions = decisionsView();
const token = createToken(() => void turn());

async function turn(): Promise<void> {
  clearTimeout(timer);
  question += 1;
  const mine = question;
  const answer = await ask(token.current());
  if (mine !== question) return;
  if (answer.kind === 'status') {
    last = { status: answer.status, atMs: performance.now(), wallMs: Date.now() };
    trouble = null;
    token.accepted();
  } else {
    trouble = answer;
  }
  if (answer.kind === 'token') {
    if (last !== null) return startAnew();
    token.askFor(answer.detail);
  }
  draw();
  // With a form on the screen the reader has the next word; out of sight nobody needs an answer.
  if (answer.kind !== 'token' && !document.hidden) timer = setTimeout(() => void turn(), EVERY_MS);
}

/** A reader who may read no longer: nothing of what was shown stays on the page for the next one. */
function startAnew(): void {
  token.forget();
  location.reload();
}

function draw(): void {
  const goneMs = last === null ? null : performance.now() - last.atMs;
  const gone = trouble !== null && trouble.kind !== 'token';
  show(byId('shown'), last !== null);
  document.body.classList.toggle('stale', gone && last !== null);
  drawAlarm();
  if (last === null || goneMs === null) {
    setText(byId('freshness'), trouble === null ? 'Asking the gate…' : '');
    return;
  }
  const { status } = last;
  // The gate's clock goes on while nothing comes, so that ages stay true.
  const nowMs = Date.parse(status.now) + goneMs;
  drawGate(status, nowMs);
  drawCards(status.cards, nowMs);
  drawDecisions(status);
  setText(byId('freshness'), `Last look ${lasting(nowMs - Date.parse(status.cards.observed_at))} ago`);
  document.title = titleOf(status, gone ? goneMs : null);
}

function drawAlarm(): void {
  const alarm = alarmWords();
  setText(byId('alarm'), alarm ?? '');
  show(byId('alarm'), alarm !== null);
}

/** Changes only when something happened: a screen reader says it each time. */
function alarmWords(): string | null {
  if (trouble !== null && trouble.kind !== 'token') {
    const says =
      trouble.kind === 'gone' ? 'The gate does not answer' : `The gate cannot say how it stands: ${trouble.detail}`;
    if (last === null) return `${says}.`;
    return `${says}. This is how it was at ${clockTime(last.wallMs)}, when it last did, and may be wrong by now.`;
  }
  if (last === null) return null;
  const { now, cards } = last.status;
  const ageMs = Date.parse(now) - Date.parse(cards.observed_at);
  return ageMs > OLD_MS ? `The last look at the cards is old: it is from ${clockTime(cards.observed_at)}.` : null;
}

document.addEventListener('visibilitychange', () => {
  if (document.hidden) clearTimeout(timer);
  else void turn();
});
// Ages go on between two answers.
setInterval(() => {
  if (!document.hidden) draw();
}, 1000);
void turn();
