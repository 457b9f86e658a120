/** Queries all cards, and only the working ones if a broken one fails the query. */

import type { CardIndex } from '../../model/card.js';
import type { Deadline } from '../../time/deadline.js';
import { listMayHelp, type ListCards } from './list-cards.js';
import type { Listed } from './parse-list.js';
import { blindBecause, type Answer, type ProcessSlot } from './process-slot.js';

/** A query that succeeded: of all cards or, with `listed`, of those that `-L` still lists. */
export type CardsAnswer =
  | { readonly kind: 'answered'; readonly stdout: string; readonly listed: Listed | null }
  | { readonly kind: 'blind'; readonly blind: ReturnType<typeof blindBecause> };

/**
 * Queries all cards. If that fails because of one card's handle, gets the working cards from `-L` and queries those by
 * index, since a query by uuid fails for every card. Only the output of a run that exited 0 is ever used: rows are flushed
 * one at a time, so the output of a failed run looks like a smaller machine.
 */
export async function queryWithFallback(
  slot: ProcessSlot,
  query: (of: readonly CardIndex[] | null) => readonly string[],
  listCards: ListCards,
  deadline: Deadline,
  refused: (stdout: string) => boolean = () => false,
): Promise<CardsAnswer> {
  const all = await askUntilAccepted(slot, () => query(null), deadline, refused);
  if (all.kind === 'exited' && all.rc === 0) return { kind: 'answered', stdout: all.stdout, listed: null };
  const blind = (): CardsAnswer => ({
    kind: 'blind',
    blind: blindBecause(all, commandOf(query(null)), deadline.took()),
  });
  if (all.kind !== 'exited' || !listMayHelp(all.rc, all.stdout)) return blind();
  const listed = await listCards(deadline);
  if (listed === null || listed.indices.length === 0) return blind();
  const some = await askUntilAccepted(slot, () => query(listed.indices), deadline, refused);
  if (some.kind === 'exited' && some.rc === 0) return { kind: 'answered', stdout: some.stdout, listed };
  return { kind: 'blind', blind: blindBecause(some, commandOf(query(listed.indices)), deadline.took()) };
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

/** One unknown field fails the whole query, and the driver names only one of them at a time. */
async function askUntilAccepted(
  slot: ProcessSlot,
  query: () => readonly string[],
  deadline: Deadline,
  refused: (stdout: string) => boolean,
): Promise<Answer> {
  for (;;) {
    const answer = await slot.ask(query(), deadline.left());
    if (answer.kind !== 'exited' || answer.rc !== 2 || !refused(answer.stdout)) return answer;
  }
}
