/** The cards that an operator took out, each until its end, on disk. */

import type { CardUuid } from '../model/card.js';
import type { CardStore } from '../model/ports/card-store.js';
import type { Clock, Log } from '../model/ports/outside.js';
import type { Exclusion } from '../model/snapshot.js';
import { EXCLUSION_ENDS, EXCLUSIONS, type ExclusionEnd, type KeptExclusion } from './file-formats.js';
import { openJsonFile } from './json-file.js';

/** The cards taken out, and a way to wait until every change is written or has failed. */
export type StoredExclusions = Pick<CardStore, 'exclusions' | 'exclude' | 'include'> & { settled(): Promise<void> };

/** The exclusions from their two files. Never throws. */
export async function openExclusions(folder: string, outside: { clock: Clock; log: Log }): Promise<StoredExclusions> {
  const kept = await openJsonFile(folder, EXCLUSIONS, outside);
  const ends = await openJsonFile(folder, EXCLUSION_ENDS, outside);
  let turn: Promise<unknown> = Promise.resolve();

  /** One change of both files at a time: an end is written before its exclusion, and must not be tidied away meanwhile. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = turn.then(work);
    turn = mine.catch(() => undefined);
    return mine;
  }

  function tidyEnds(): Promise<void> {
    return ends.replace(ends.entries().filter((end) => kept.entries().some((one) => isOf(end, one))));
  }

  function drop(over: readonly Exclusion[]): void {
    for (const { uuid, reason, principal, until } of over) {
      outside.log.info({ card: uuid, reason, principal, until }, `the exclusion of ${uuid} by ${principal} has ended`);
    }
    void kept.replace(kept.entries().filter((one) => !over.some(({ uuid }) => uuid === one.uuid)));
    void inTurn(tidyEnds);
  }

  return {
    exclusions() {
      const { standing, over } = byNow(withEnds(kept.entries(), ends.entries()), outside.clock.now());
      if (over.length > 0) drop(over);
      return standing;
    },
    exclude: ({ until, ...exclusion }) =>
      inTurn(async () => {
        const others = (all: readonly ExclusionEnd[]) => all.filter((end) => !isOf(end, exclusion));
        const { uuid, since } = exclusion;
        await ends.change((all) => [...others(all), ...(until === null ? [] : [{ uuid, since, until }])]);
        await kept.change((all) => [...all.filter((one) => one.uuid !== uuid), exclusion]);
        await tidyEnds();
      }),
    include: (uuid: CardUuid) =>
      inTurn(async () => {
        const wasOut = await kept.change((all) => all.filter((one) => one.uuid !== uuid));
        await tidyEnds();
        return wasOut;
      }),
    async settled() {
      await turn;
      await kept.replace(kept.entries());
      await tidyEnds();
    },
  };
}

/** Each exclusion with its end. Pure. */
export function withEnds(kept: readonly KeptExclusion[], ends: readonly ExclusionEnd[]): readonly Exclusion[] {
  return kept.map((one) => ({ ...one, until: ends.find((end) => isOf(end, one))?.until ?? null }));
}

/** Which of them stand at that time, and which have ended. Pure. */
export function byNow(
  all: readonly Exclusion[],
  nowMs: number,
): { readonly standing: readonly Exclusion[]; readonly over: readonly Exclusion[] } {
  const isOver = ({ until }: Exclusion): boolean => until !== null && Date.parse(until) <= nowMs;
  return { standing: all.filter((one) => !isOver(one)), over: all.filter(isOver) };
}

function isOf(end: ExclusionEnd, { uuid, since }: KeptExclusion): boolean {
  return end.uuid === uuid && end.since === since;
}
