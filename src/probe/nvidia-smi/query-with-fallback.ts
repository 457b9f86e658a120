/** Queries all cards, and only the working ones if a broken one fails the query. */

import type { CardIndex } from '../../model/card.js';
import type { Deadline } from '../../time/deadline.js';
import { listMayHelp, type ListCards } from './list-cards.js';
import type { Listed } from './parse-list.js';
import { blindBecause, type Answer, type ProcessSlot } from './process-slot.js';

/**
 * A query that succeeded: of all cards or, with `listed`, of those that `-L` still lists. `all_broken`: `-L` lists none and
 * has an error for each card, so none is left to query; `blind` is how the query itself failed.
 */
export type CardsAnswer =
  | { readonly kind: 'answered'; readonly stdout: string; readonly listed: Listed | null }
  | { readonly kind: 'all_broken'; readonly listed: Listed; readonly blind: ReturnType<typeof blindBecause> }
  | { readonly kind: 'blind'; readonly blind: ReturnType<typeof blindBecause> };

/** One query of nvidia-smi; `of` are the only cards to query, null for all. */
export interface CardsQuery {
  readonly args: (of: readonly CardIndex[] | null) => readonly string[];
  /** Records a run that exited 2; true when a retry may help. */
  readonly refused?: (stdout: string) => boolean;
}

/**
 * Queries all cards. If that fails because of one card's handle, gets the working cards from `-L` and queries those by
 * index, since a query by uuid fails for every card. Only the output of a run that exited 0 is ever used: rows are flushed
 * one at a time, so the output of a failed run looks like a smaller machine. While a card is broken, the next look starts
 * with the others and `-L` in parallel, and queries again only if `-L` has changed.
 */
export function createFallback(
  slot: ProcessSlot,
  listCards: ListCards,
  query: CardsQuery,
): (deadline: Deadline) => Promise<CardsAnswer> {
  let sound: readonly CardIndex[] | null = null;

  return async (deadline) => {
    const known = sound === null ? null : await askTheSame(sound, deadline);
    if (known !== null) return known;
    const answer = await askAnew(deadline);
    sound = answer.kind === 'answered' ? (answer.listed?.indices ?? null) : null;
    return answer;
  };

  async function askTheSame(before: readonly CardIndex[], deadline: Deadline): Promise<CardsAnswer | null> {
    const [some, listed] = await Promise.all([ask(before, deadline), listCards(deadline)]);
    if (some.kind !== 'exited' || some.rc !== 0 || listed === null || listed.broken.length === 0) return null;
    return listed.indices.join() === before.join() ? { kind: 'answered', stdout: some.stdout, listed } : null;
  }

  async function askAnew(deadline: Deadline): Promise<CardsAnswer> {
    const all = await ask(null, deadline);
    if (all.kind === 'exited' && all.rc === 0) return { kind: 'answered', stdout: all.stdout, listed: null };
    const blind = blindBecause(all, commandOf(query.args(null)), deadline.took());
    if (all.kind !== 'exited' || !listMayHelp(all.rc, all.stdout)) return { kind: 'blind', blind };
    const listed = await listCards(deadline);
    if (listed === null || listed.indices.length + listed.broken.length === 0) return { kind: 'blind', blind };
    if (listed.indices.length === 0) return { kind: 'all_broken', listed, blind };
    const some = await ask(listed.indices, deadline);
    if (some.kind === 'exited' && some.rc === 0) return { kind: 'answered', stdout: some.stdout, listed };
    return { kind: 'blind', blind: blindBecause(some, commandOf(query.args(listed.indices)), deadline.took()) };
  }

  /** One unknown field fails the whole query, and the driver names only one of them at a time. */
  async function ask(of: readonly CardIndex[] | null, deadline: Deadline): Promise<Answer> {
    for (;;) {
      const answer = await slot.ask(query.args(of), deadline.left());
      if (answer.kind !== 'exited' || answer.rc !== 2 || query.refused?.(answer.stdout) !== true) return answer;
    }
  }
}

/** `-i 0,1,2` where only some cards are queried. */
export function onlyOf(of: readonly CardIndex[] | null): readonly string[] {
  return of === null ? [] : ['-i', of.join(',')];
}

/** The command as a person would type it, without the long list of fields. */
function commandOf(args: readonly string[]): string {
  const shown = args.filter((arg) => !arg.startsWith('--format='));
  return ['nvidia-smi', ...shown.map((arg) => arg.split('=')[0])].join(' ');
}
