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
  const meant = await cardMeant(card, gate, action === 'include');
  if (meant.kind === 'failed') return fail(meant.failure);
  const exclusion = { reason: options.reason ?? '', ...(until === null ? {} : { until: until.time }) };
  const body = action === 'exclude' ? { body: JSON.stringify(exclusion) } : {};
  const path = `/cards/${encodeURIComponent(meant.uuid)}/${action}`;
  const said = await gate.ask(path, { method: 'POST', ...body });
  if (said.kind !== 'answered' || said.status >= 300) return fail(failureOf(said));
  if (options.json === true) return sayJson(said.body);
  // 204 means that there is no card to show, as after `forget`.
  const shown = shownCards.shape.cards.element.safeParse(said.body);
  const done = action === 'include' && !meant.isOut ? 'it had not been taken out' : DONE[action];
  say(`${done}: ${meant.uuid}${shown.success ? standing(shown.data) : ''}`);
}

const DONE = { exclude: 'taken out', include: 'taken back', forget: 'forgotten' } as const;

function standing({ index, state, held_by: holder, excluded }: ShownCard): string {
  const held = holder === null ? '' : `; ${holder.run_id} runs on it and is left alone`;
  const until = excluded?.until == null ? '' : `, out until ${excluded.until}`;
  return `, card ${index ?? 'without an index'}, is now ${state}${until}${held}`;
}

type CardMeant =
  /** `isOut`: an operator has taken it out, as far as the gate shows. */
  | { readonly kind: 'card'; readonly uuid: string; readonly isOut: boolean }
  | { readonly kind: 'failed'; readonly failure: Failure };

/** `looks`: also where the uuid is known already. A card that /cards does not show may be out all the same. */
async function cardMeant(card: string, gate: Gate, looks: boolean): Promise<CardMeant> {
  const index = /^\d{1,4}$/.test(card) ? Number(card) : null;
  if (index === null && !looks) return { kind: 'card', uuid: card, isOut: true };
  const said = await gate.ask('/cards');
  const read = said.kind === 'answered' && said.status === 200 ? shownCards.safeParse(said.body) : null;
  if (read === null || !read.success) {
    // A token that operates need not be one that reads.
    return index === null ? { kind: 'card', uuid: card, isOut: true } : { kind: 'failed', failure: failureOf(said) };
  }
  const found = read.data.cards.find((each) => (index === null ? each.uuid === card : each.index === index));
  if (typeof found?.uuid === 'string') {
    return { kind: 'card', uuid: found.uuid, isOut: found.excluded?.by === 'operator' };
  }
  if (index === null) return { kind: 'card', uuid: card, isOut: true };
  const lines = [`no card has the index ${index} and a uuid now; gpu-gate status shows them`];
  return { kind: 'failed', failure: { lines, exit: EXIT.refused } };
}
