/** Notes about cards with failed starts. */

import type { JudgedCard } from '../model/occupancy.js';

/** One sentence if there are any, to explain why a card stays free while others are given. */
export function failedStartNotes(
  cards: readonly Pick<JudgedCard, 'index' | 'uuid' | 'failedStarts'>[],
): readonly string[] {
  const failed = cards.filter(({ failedStarts }) => failedStarts > 0);
  if (failed.length === 0) return [];
  const told = failed.map(({ index, uuid, failedStarts }) => `${index ?? uuid} (${failedStarts})`).join(', ');
  return [
    `starts failed within the last hour, and none succeeded since, on card${failed.length === 1 ? '' : 's'} ${told}: picked last`,
  ];
}
