/** `gpu-gate status`: the cards and the line of a running gate, once or continuously. */

import { pause } from '../time/pause.js';
import { systemClock } from '../time/system-clock.js';
import type { Gate, GateOptions } from './client/ask-gate.js';
import {
  shownCards,
  shownLine,
  shownReadiness,
  type ShownCards,
  type ShownPlace,
  type ShownReadiness,
} from './client/gate-shapes.js';
import { failureOf, type Failure } from './client/problem-words.js';
import { fail, reachGate } from './client/reach-gate.js';
import { statusLines } from './client/status-words.js';
import { untilInterrupted } from './terminal/interrupt.js';
import { draw, say, sayJson, screenWidth, write } from './terminal/say.js';

export interface StatusOptions extends GateOptions {
  readonly watch?: boolean;
  readonly json?: boolean;
}

const EVERY_MS = 2000;
/** Clears the screen and its scrollback. */
const CLEAR = '\u001B[2J\u001B[3J';

/** Prints the gate's status, and with `watch` every 2 s until Ctrl-C, even while the gate is down. */
export async function status(options: StatusOptions): Promise<void> {
  const gate = reachGate(options);
  if (gate === null) return;
  if (options.watch === true) return watch(gate, options.json === true);
  const looked = await look(gate);
  if (looked.kind === 'failed') fail(looked.failure);
  else if (options.json === true) sayJson(bodiesOf(looked));
  else say(...statusLines({ where: gate.written, ...looked }, screenWidth()));
}

async function watch(gate: Gate, json: boolean): Promise<void> {
  const interrupted = untilInterrupted();
  // A terminal is redrawn; any other output gets one block after the other.
  const draws = process.stdout.isTTY && !json;
  if (draws) write(process.stdout, CLEAR);
  while (!interrupted.aborted) {
    const looked = await look(gate, interrupted);
    if (interrupted.aborted) break;
    if (json) {
      sayJson(looked.kind === 'failed' ? { failed: looked.failure.lines } : bodiesOf(looked), 0);
    } else {
      const lines =
        looked.kind === 'failed'
          ? looked.failure.lines
          : statusLines({ where: gate.written, ...looked }, screenWidth());
      const last = `${new Date().toLocaleTimeString()}, every ${EVERY_MS / 1000} s; Ctrl-C ends`;
      if (draws) draw(...lines, '', last);
      else say(...lines, '');
    }
    await pause(EVERY_MS, systemClock, interrupted);
  }
}

type Looked =
  | {
      readonly kind: 'seen';
      readonly cards: ShownCards;
      readonly readiness: ShownReadiness | null;
      readonly line: readonly ShownPlace[] | null;
      readonly cardsBody: unknown;
      readonly readinessBody: unknown;
    }
  | { readonly kind: 'failed'; readonly failure: Failure };

async function look(gate: Gate, signal?: AbortSignal): Promise<Looked> {
  const how = signal === undefined ? {} : { signal };
  const [cards, ready, shown] = await Promise.all([
    gate.ask('/cards', how),
    gate.ask('/readyz', how),
    gate.ask('/status.json', how),
  ]);
  const read = cards.kind === 'answered' && cards.status === 200 ? shownCards.safeParse(cards.body) : null;
  if (cards.kind !== 'answered' || read === null || !read.success) return { kind: 'failed', failure: failureOf(cards) };
  const readiness = ready.kind === 'answered' ? shownReadiness.safeParse(ready.body) : null;
  const line = shown.kind === 'answered' && shown.status === 200 ? shownLine.safeParse(shown.body) : null;
  return {
    kind: 'seen',
    cards: read.data,
    line: line?.data?.line ?? null,
    readiness: readiness?.data ?? null,
    cardsBody: cards.body,
    readinessBody: ready.kind === 'answered' ? ready.body : null,
  };
}

function bodiesOf({ cardsBody, readinessBody, line }: Extract<Looked, { kind: 'seen' }>): object {
  return { cards: cardsBody, readiness: readinessBody, line };
}
