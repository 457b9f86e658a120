/** One paragraph for a person: how many cards are free, and what the others are doing. */

import type { CardState } from '../model/card.js';
import type { JudgedCard, Occupancy, UnknownBecause } from '../model/occupancy.js';
import { PROBES } from '../model/snapshot.js';

/** The input for the paragraph. */
export type Explained = Pick<Occupancy, 'cards' | 'counts' | 'probes' | 'notes'>;

/**
 * `8 cards, 5 free; 2 held by jobs (cards 0,1: train-17); 1 used from outside (card 4: python pid 4242, 812 MiB). …`, then
 * what could not be seen and why, then the notes. Deterministic for the same findings.
 */
export function explain(seen: Explained): string {
  const sentences = [
    [heading(seen), ...OTHER_STATES.flatMap((state) => clause(seen, state))].join('; '),
    ...PROBES.flatMap((probe) => {
      const { state, why, detail } = seen.probes[probe];
      return state === 'failed' ? [`${COULD_NOT[probe]} (${why}): ${detail}`] : [];
    }),
    ...seen.notes,
  ];
  return sentences.map(asSentence).join(' ');
}

type OtherState = Exclude<CardState, 'free'>;
const OTHER_STATES: readonly OtherState[] = ['job_held', 'external', 'unhealthy', 'excluded', 'unknown'];

const SAYS: Record<OtherState, (count: number) => string> = {
  job_held: (count) => `${count} held by jobs`,
  external: (count) => `${count} used from outside`,
  unhealthy: (count) => `${count} unhealthy`,
  excluded: (count) => `${count} excluded`,
  unknown: (count) => `${count} unknown`,
};

const COULD_NOT = {
  gpus: 'the cards could not be seen',
  processes: 'the process list is not available',
  health: 'the health columns could not be queried',
  docker: 'the containers could not be listed',
  kernel: "the kernel's log could not be read",
};

function heading({ cards, counts }: Explained): string {
  if (cards.length === 0) return 'no card is known';
  return `${cards.length} card${cards.length === 1 ? '' : 's'}, ${counts.free} free`;
}

function clause({ cards, counts }: Explained, state: OtherState): string[] {
  if (counts[state] === 0) return [];
  const groups = new Map<string, JudgedCard[]>();
  for (const card of cards.filter((each) => each.state === state)) {
    const why = WHY[state](card);
    groups.set(why, [...(groups.get(why) ?? []), card]);
  }
  return [
    `${SAYS[state](counts[state])} (${[...groups].map(([why, each]) => `${theCards(each)}: ${why}`).join(', ')})`,
  ];
}

const WHY: Record<OtherState, (card: JudgedCard) => string> = {
  job_held: (card) => card.claims.map((claim) => claim.runId).join(' and '),
  external: (card) => useWords(card),
  unhealthy: (card) => card.unhealthy.map((finding) => finding.detail).join(' and '),
  excluded: (card) => outWords(card),
  unknown: (card) => (card.unknownBecause === null ? '' : UNKNOWN_WORDS[card.unknownBecause]),
};

const UNKNOWN_WORDS: Record<UnknownBecause, string> = {
  blind: 'not seen',
  docker: 'whether a job holds it is not known',
  memory: 'the driver does not say how much memory is in use',
  permission: 'not permitted to look at it',
  short_row: 'the driver printed its row incompletely',
  uuid: 'its uuid is of a form that is not known here',
};

/** What the use was detected by; memory without a process is distinguished from a process. */
function useWords({ external }: JudgedCard): string {
  if (external === null) return '';
  const processes = external.processes.map(
    ({ pid, name, memoryMib }) => `${name} pid ${pid}${memoryMib === null ? '' : `, ${memoryMib} MiB`}`,
  );
  const memory =
    external.memoryMib === null
      ? []
      : processes.length === 0
        ? [`${external.memoryMib} MiB in use and no process listed`]
        : [];
  return [...processes, ...memory, ...external.containers.map((name) => `given to container ${name}`)].join(' and ');
}

/** `fan is loud, by ann until 2026-11-29T14:00:00.000Z`. */
function outWords({ excluded }: JudgedCard): string {
  if (excluded === null) return '';
  const { reason, principal, until } = excluded;
  const words = [...(principal === null ? [] : [`by ${principal}`]), ...(until === null ? [] : [`until ${until}`])];
  return [reason, ...(words.length === 0 ? [] : [words.join(' ')])].join(', ');
}

function theCards(cards: readonly JudgedCard[]): string {
  const numbered = cards.flatMap(({ index }) => (index === null ? [] : [index]));
  const others = cards.flatMap(({ index, uuid }) => (index === null ? [uuid ?? 'one without a number'] : []));
  return `card${cards.length === 1 ? '' : 's'} ${[...numbered, ...others].join(',')}`;
}

function asSentence(text: string): string {
  const sentence = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}
