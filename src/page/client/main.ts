/** Fetches every two seconds while the page is visible, draws the result, and shows when none comes. */

import { ask, type Answer } from './ask.js';
import { cardsView } from './cards-view.js';
import { decisionsView } from './decisions-view.js';
import { byId, setText, show } from './dom.js';
import { gateView, titleOf } from './gate-view.js';
import { lineView } from './line-view.js';
import type { Status } from './status.js';
import { createToken } from './token.js';
import { clockTime, lasting } from './words.js';

const EVERY_MS = 2000;
/** The gate answers with a look that is at most a few seconds old; an older one means that something blocks it. */
const OLD_MS = 15_000;

/** The last good answer; `atMs` and `wallMs` are when it came, by the monotonic clock and by the browser's wall clock. */
let last: { readonly status: Status; readonly atMs: number; readonly wallMs: number } | null = null;
let trouble: Exclude<Answer, { kind: 'status' }> | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;
/** Of two requests in flight, the later counts. */
let question = 0;

const drawGate = gateView();
const drawCards = cardsView();
const drawLine = lineView();
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
  // While the form is shown, wait for the reader; while the page is hidden, nobody needs an answer.
  if (answer.kind !== 'token' && !document.hidden) timer = setTimeout(() => void turn(), EVERY_MS);
}

/** The reader lost access: remove everything from the page, so that the next person does not see it. */
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
  // The gate's clock advances between answers, so that ages stay correct.
  const nowMs = Date.parse(status.now) + goneMs;
  drawGate(status, nowMs);
  drawCards(status.cards, nowMs);
  drawLine(status.line, nowMs);
  drawDecisions(status);
  setText(byId('freshness'), `Last look ${lasting(nowMs - Date.parse(status.cards.observed_at))} ago`);
  document.title = titleOf(status, gone ? goneMs : null);
}

function drawAlarm(): void {
  const alarm = alarmWords();
  setText(byId('alarm'), alarm ?? '');
  show(byId('alarm'), alarm !== null);
}

/** Changes only when something happened: a screen reader announces each change. */
function alarmWords(): string | null {
  if (trouble !== null && trouble.kind !== 'token') {
    const says =
      trouble.kind === 'gone' ? 'The gate does not answer' : `The gate cannot report its status: ${trouble.detail}`;
    if (last === null) return `${says}.`;
    return `${says}. This is its last answer, from ${clockTime(last.wallMs)}, and may be outdated.`;
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
// Ages advance between two answers.
setInterval(() => {
  if (!document.hidden) draw();
}, 1000);
void turn();
