/** `gpu-gate exclude`, `include` and `forget`: an operator's command about one card of a running gate. */

import type { Gate, GateOptions } from './client/ask-gate.js';
import { shownCards, type ShownCard } from './client/gate-shapes.js';
import { failureOf, type Failure } from './client/problem-words.js';
import { fail, reachGate } from './client/reach-gate.js';
import { timeMeant } from './client/time-meant.js';
import { EXIT } from './terminal/exit-codes.js';
import { say, sayJson } from './terminal/say.js';

export interface OperateOptions extends GateOptions {
  readonly json?: boolean;
  /** For `exclude`. */
  readonly reason?: string;
  /** For `exclude`: `2h`, `7d`, by the clock of this machine, or a time with a zone. */
  readonly until?: string;
}

/** `card` is a uuid or an index; an index is resolved now, since it may mean another card tomorrow. */
export async function operate(
  action: 'exclude' | 'include' | 'forget',
  card: string,
  options: OperateOptions,
): Promise<void> {
  const gate = reachGate(options);
  if (gate === null) return;
  const until = options.until === undefined ? null : timeMeant(options.until, Date.now());
  if (until?.kind === 'neither') return fail({ lines: [`--until is ${until.detail}`], exit: EXIT.usage });
  const uuid = /^\d{1,4}$/.test(card) ? await uuidOf(Number(card), gate) : { kind: 'uuid' as const, uuid: card };
  if (uuid.kind === 'failed') return fail(uuid.failure);
  const exclusion = { reason: options.reason ?? '', ...(until === null ? {} : { until: until.time }) };
  const body = action === 'exclude' ? { body: JSON.stringify(exclusion) } : {};
  const path = `/cards/${encodeURIComponent(uuid.uuid)}/${action}`;
  const said = await gate.ask(path, { method: 'POST', ...body });
  if (said.kind !== 'answered' || said.status >= 300) return fail(failureOf(said));
  if (options.json === true) return sayJson(said.body);
  // 204 means that there is no card to show, as after `forget`.
  const shown = shownCards.shape.cards.element.safeParse(said.body);
  say(`${DONE[action]}: ${uuid.uuid}${shown.success ? standing(shown.data) : ''}`);
}

const DONE = { exclude: 'taken out', include: 'taken back', forget: 'forgotten' } as const;

function standing({ index, state, held_by: holder, excluded }: ShownCard): string {
  const held = holder === null ? '' : `; ${holder.run_id} runs on it and is left alone`;
  const until = excluded?.until == null ? '' : `, out until ${excluded.until}`;
  return `, card ${index ?? 'without an index'}, is now ${state}${until}${held}`;
}

type FoundUuid =
  | { readonly kind: 'uuid'; readonly uuid: string }
  | { readonly kind: 'failed'; readonly failure: Failure };

async function uuidOf(index: number, gate: Gate): Promise<FoundUuid> {
  const said = await gate.ask('/cards');
  const read = said.kind === 'answered' && said.status === 200 ? shownCards.safeParse(said.body) : null;
  if (read === null || !read.success) return { kind: 'failed', failure: failureOf(said) };
  const uuid = read.data.cards.find((card) => card.index === index)?.uuid;
  if (typeof uuid === 'string') return { kind: 'uuid', uuid };
  const lines = [`no card has the index ${index} and a uuid now; gpu-gate status shows them`];
  return { kind: 'failed', failure: { lines, exit: EXIT.refused } };
}
