/** Everything but cards and decisions: the machine, the number of free cards, the explaining sentence, probes and lock. */

import { byId, keyedList, make, setAttribute, setText, show, type Row } from './dom.js';
import type { CardState, PartName, ProbeName, Status } from './status.js';
import { clockTime, counted, lasting, since, STATE_WORDS } from './words.js';

/** Returns the function that draws them; `nowMs` is the current time by the gate's clock. */
export function gateView(): (status: Status, nowMs: number) => void {
  const drawCounts = keyedList<readonly [CardState, number]>(byId('counts'), ([state]) => state, countRow);
  const drawClosed = keyedList<readonly [PartName, string]>(byId('closed'), ([part]) => part, closedRow);
  const drawProbes = keyedList<Lamp>(byId('probes'), ({ probe }) => probe, probeRow);
  const drawFacts = keyedList<readonly [string, string]>(byId('lock'), ([name]) => name, factRow);
  return (status, nowMs) => {
    const { counts, cards, explain } = status.cards;
    const of = `of ${counted(cards.length, 'card')} free`;
    setText(byId('machine'), status.machine);
    setText(byId('about'), `tuneplane-gpu-gate ${status.version}, up ${since(status.started_at, nowMs)}`);
    setText(byId('free'), String(counts.free));
    setText(byId('of-cards'), of);
    setText(byId('explain'), explain);
    drawCounts(
      STATES.map((state) => [state, counts[state]] as const).filter(([state, count]) => state === 'free' || count > 0),
    );
    const closed = PARTS.filter((part) => !status.parts[part].ok);
    drawClosed(closed.map((part) => [part, status.parts[part].detail ?? 'no reason given'] as const));
    show(byId('closed'), closed.length > 0);
    // Screen readers announce it, so it changes only where that matters.
    setText(byId('spoken'), `${counts.free} ${of}${status.ready ? '' : '; nothing can be admitted now'}`);
    drawProbes(PROBES.map((probe) => lampOf(probe, status, nowMs)));
    drawFacts(factsOf(status));
  };
}

const STATES = Object.keys(STATE_WORDS) as readonly CardState[];
const PARTS: readonly PartName[] = ['draining', 'runtime', 'lock', 'probe', 'files'];
const PART_WORDS: Readonly<Record<PartName, string>> = {
  runtime: 'Nothing can be admitted: the runtime does not answer',
  lock: 'Nothing can be admitted: the lock is not available',
  probe: 'Nothing can be admitted: the cards cannot be seen',
  draining: 'Nothing is admitted any more',
  files: 'No caller may admit anything',
};
const PROBES: readonly ProbeName[] = ['gpus', 'processes', 'health', 'docker', 'kernel'];
const PROBE_WORDS: Readonly<Record<ProbeName, string>> = {
  gpus: 'Cards',
  processes: 'Processes',
  health: 'Health',
  docker: 'Runtime',
  kernel: 'Kernel log',
};

interface Lamp {
  readonly probe: ProbeName;
  readonly lamp: 'on' | 'out' | 'off';
  readonly words: string;
  readonly detail: string;
}

function lampOf(probe: ProbeName, { cards, last_seen }: Status, nowMs: number): Lamp {
  const { ok, took_ms, why, detail } = cards.probes[probe];
  if (ok === null) return { probe, lamp: 'off', words: 'off', detail: detail ?? '' };
  if (ok) {
    const took = took_ms === null || took_ms === undefined ? '' : `, in ${took_ms} ms`;
    return { probe, lamp: 'on', words: `seen ${since(cards.observed_at, nowMs)} ago${took}`, detail: '' };
  }
  const last = last_seen[probe];
  const seen =
    last === null ? 'not seen since the gate started' : `last seen ${since(last, nowMs)} ago, ${clockTime(last)}`;
  return { probe, lamp: 'out', words: `blind (${why ?? 'no reason given'}), ${seen}`, detail: detail ?? '' };
}

function factsOf({ lock, admissions_in_flight: inFlight }: Status): (readonly [string, string])[] {
  const redis = lock.redis_up === null ? 'not used' : lock.redis_up ? 'up' : 'down';
  return [
    ['Held', lock.held ? 'by this gate' : (lock.problem ?? 'not by this gate')],
    ['Waiting for it', String(lock.waiting)],
    ['Redis', redis],
    ['Admissions under way', String(inFlight)],
  ];
}

function countRow(): Row<readonly [CardState, number]> {
  const words = make('span', '');
  const element = make('li', '', make('span', 'swatch'), words);
  return {
    element,
    draw([state, count]) {
      setAttribute(element, 'data-state', state);
      setText(words, `${count} ${STATE_WORDS[state].toLowerCase()}`);
    },
  };
}

function closedRow(): Row<readonly [PartName, string]> {
  const element = make('li', '');
  return { element, draw: ([part, detail]) => setText(element, `${PART_WORDS[part]}: ${detail}`) };
}

function probeRow(): Row<Lamp> {
  const lamp = make('span', 'lamp');
  const name = make('span', 'name');
  const words = make('span', '');
  const detail = make('span', 'detail');
  return {
    element: make('li', '', lamp, name, words, detail),
    draw(item) {
      setAttribute(lamp, 'data-lamp', item.lamp);
      setText(name, PROBE_WORDS[item.probe]);
      setText(words, item.words);
      setText(detail, item.detail);
      show(detail, item.detail !== '');
    },
  };
}

function factRow(): Row<readonly [string, string]> {
  const name = make('dt', '');
  const value = make('dd', '');
  return {
    element: make('div', '', name, value),
    draw([says, is]) {
      setText(name, says);
      setText(value, is);
    },
  };
}

/** For the tab's title: what an operator with many tabs wants to see. */
export function titleOf({ machine, cards }: Status, goneForMs: number | null): string {
  if (goneForMs !== null) return `${machine}: no answer for ${lasting(goneForMs)}`;
  return `${machine}: ${cards.counts.free} of ${cards.cards.length} free`;
}
