/** What is said of cards on which starts failed. */

import type { JudgedCard } from '../model/occupancy.js';

/** One sentence where there is any: a card that nobody gets while others are free must not be a riddle. */
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
