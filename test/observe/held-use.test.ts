import { expect, test } from 'vitest';
import type { JudgedCard, Occupancy } from '../../src/model/occupancy.js';
import { watchHeldUse, type WatchHeldUse } from '../../src/observe/held-use.js';
import { card, claim, unseenCard, watched, type Fared } from '../metrics/occupancies.js';

const HOUR = 3_600_000;

/** A card that runs of these principals hold: `ann` or `ann/2` for her second run; null: nobody named. */
function heldBy(index: number, ...runs: readonly (string | null)[]): JudgedCard {
  const claims = runs.map((run) => ({ ...claim(`of-${run}`), principal: run?.split('/')[0] ?? null }));
  return card(index, { state: claims.length === 0 ? 'free' : 'job_held', claims });
}

function look(cards: readonly JudgedCard[], fared: Partial<Record<'docker' | 'gpus', Fared>> = {}): Occupancy {
  return watched(cards, fared).occupancy;
}

type Look = [second: number, cards: readonly JudgedCard[], fared?: Partial<Record<'docker' | 'gpus', Fared>>];

function totals(looks: readonly Look[], watch: WatchHeldUse = watchHeldUse()): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const [second, cards, fared] of looks) {
    for (const [principal, seconds] of watch(look(cards, fared), second * 1000).added) {
      sums[principal] = (sums[principal] ?? 0) + seconds;
    }
  }
  return sums;
}

test.each<[says: string, looks: Look[], sums: Record<string, number>]>([
  ['a job is there at 0 from the look that first saw it', [[0, [heldBy(0, 'ann')]]], { ann: 0 }],
  [
    'each of its cards counts',
    [
      [0, [heldBy(0, 'ann'), heldBy(1, 'ann'), heldBy(2, 'kim')]],
      [10, [heldBy(0, 'ann'), heldBy(1, 'ann'), heldBy(2, 'kim')]],
      [25, [heldBy(0, 'ann'), heldBy(1, 'ann'), heldBy(2)]],
    ],
    { ann: 50, kim: 10 },
  ],
  [
    'what began and ended between looks is counted from and up to the looks that saw it',
    [
      [0, [heldBy(0)]],
      [10, [heldBy(0, 'ann')]],
      [20, [heldBy(0, 'ann')]],
      [30, [heldBy(0)]],
      [40, [heldBy(0)]],
    ],
    { ann: 10 },
  ],
  [
    'a card that went from one run to another of the same user was not held all the time',
    [
      [0, [heldBy(0, 'ann')]],
      [10, [heldBy(0, 'ann/2')]],
      [20, [heldBy(0, 'ann/2')]],
    ],
    { ann: 10 },
  ],
  [
    'over looks without the containers what held before and after is counted, and nothing else',
    [
      [0, [heldBy(0, 'ann'), heldBy(1, 'kim'), heldBy(2)]],
      [10, [card(0, { state: 'unknown' })], { docker: 'timeout' }],
      [20, [heldBy(0, 'ann')], { docker: 'unavailable' }],
      [60, [heldBy(0, 'ann'), heldBy(1), heldBy(2, 'lee')]],
    ],
    { ann: 60, kim: 0, lee: 0 },
  ],
  [
    'nothing is counted as long as the containers stay out of sight',
    [
      [0, [heldBy(0, 'ann')]],
      [3600, [heldBy(0, 'ann')], { docker: 'timeout' }],
    ],
    { ann: 0 },
  ],
  [
    'the containers say who holds what while the driver hangs',
    [
      [0, [heldBy(0, 'ann')]],
      [10, [unseenCard(0, { claims: [{ ...claim('of-ann'), principal: 'ann' }] })], { gpus: 'timeout' }],
      [20, [heldBy(0, 'ann')]],
    ],
    { ann: 20 },
  ],
  [
    'a time in which nobody looked is counted for what held before and after it',
    [
      [0, [heldBy(0, 'ann')]],
      [7200, [heldBy(0, 'ann')]],
    ],
    { ann: 7200 },
  ],
  [
    'a double booking counts for both, and a run that names nobody as unknown',
    [
      [0, [heldBy(0, 'ann', null)]],
      [10, [heldBy(0, 'ann', null)]],
    ],
    { ann: 10, unknown: 10 },
  ],
  [
    'two looks at one moment, or a clock that went back, take nothing away',
    [
      [10, [heldBy(0, 'ann')]],
      [10, [heldBy(0, 'ann')]],
      [5, [heldBy(0, 'ann')]],
    ],
    { ann: 0 },
  ],
])('%s', (_says, looks, sums) => expect(totals(looks)).toEqual(sums));

test('beyond the bound newcomers count together, and those before them go on by their names', () => {
  const cards = [heldBy(0, 'ann'), heldBy(1, 'kim'), heldBy(2, 'lee'), heldBy(3, 'moe')];
  expect(
    totals(
      [
        [0, cards],
        [10, cards],
      ],
      watchHeldUse(2),
    ),
  ).toEqual({ ann: 10, kim: 10, other: 20 });
});

test('who has held nothing for a day makes room, and is told as forgotten; who holds never does', () => {
  const watch = watchHeldUse(2);
  watch(look([heldBy(0, 'ann'), heldBy(1, 'kim')]), 0);
  watch(look([heldBy(0, 'ann'), heldBy(1)]), 24 * HOUR - 1);
  const early = watch(look([heldBy(0, 'ann'), heldBy(1, 'lee')]), 24 * HOUR - 1);
  expect([[...early.added.keys()], early.forgotten]).toEqual([['ann', 'other'], []]);
  const late = watch(look([heldBy(0, 'ann'), heldBy(1, 'moe')]), 24 * HOUR);
  expect([[...late.added.keys()], late.forgotten]).toEqual([['ann', 'moe'], ['kim']]);
});

test('nobody is forgotten while there is room', () => {
  const watch = watchHeldUse(3);
  watch(look([heldBy(0, 'ann'), heldBy(1, 'kim')]), 0);
  expect(watch(look([heldBy(0, 'lee')]), 1000 * HOUR).forgotten).toEqual([]);
});
