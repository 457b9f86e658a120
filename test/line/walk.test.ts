import { describe, expect, test } from 'vitest';
import { walkLine, type Walked } from '../../src/line/walk.js';
import type { Wanted } from '../../src/model/line.js';
import { machine } from './machine.js';

/** Who gets what out of one look and one line: by rows for people, and by its whole small space. */

const RESERVE_AFTER_MS = 600_000;
const rules = { admitWhenBlind: false, reserveAfterMs: RESERVE_AFTER_MS };

function wanted(runId: string, count: number, but: Partial<Wanted> = {}): Wanted {
  return { runId, count, waitedMs: 0, imageHere: true, asks: true, ...but };
}

/** `a:0,1 b:-`: the cards of each, `-` for one that waits. */
function told({ shares }: Walked): string {
  return Array.from(shares, ([runId, share]) =>
    share.kind === 'gets' ? `${runId}:${share.cards.map(({ index }) => index).join(',')}` : `${runId}:-`,
  ).join(' ');
}

const long = { waitedMs: RESERVE_AFTER_MS };

describe('a line', () => {
  test.each<[string, string, readonly Wanted[], string, string | null]>([
    ['goes by how long each has waited', 'fj', [wanted('old', 1), wanted('new', 1)], 'old:0 new:-', null],
    ['lets smaller ones pass one that does not fit', 'fj', [wanted('big', 2), wanted('new', 1)], 'big:- new:0', null],
    [
      'keeps a card for a silent place that it fits',
      'fj',
      [wanted('old', 1, { asks: false }), wanted('new', 1)],
      'old:0 new:-',
      null,
    ],
    [
      'takes no card for a run whose image is not here',
      'fj',
      [wanted('old', 1, { imageHere: false }), wanted('new', 1)],
      'old:- new:0',
      null,
    ],
    [
      'keeps every free card for one that has waited too long',
      'ffj',
      [wanted('big', 3, long), wanted('new', 1)],
      'big:- new:-',
      'big',
    ],
    [
      'keeps none before that',
      'ffj',
      [wanted('big', 3, { waitedMs: RESERVE_AFTER_MS - 1 }), wanted('new', 1)],
      'big:- new:0',
      null,
    ],
    [
      'keeps none for one that needs a card which is sick',
      'ffs',
      [wanted('big', 3, long), wanted('new', 1)],
      'big:- new:0',
      null,
    ],
    [
      'keeps none for one that needs a card which is taken out',
      'ffx',
      [wanted('big', 3, long), wanted('new', 1)],
      'big:- new:0',
      null,
    ],
    [
      'keeps none for one that needs a card in use from outside',
      'ffe',
      [wanted('big', 3, long), wanted('new', 1)],
      'big:- new:0',
      null,
    ],
    [
      'keeps none for a run whose image is not here',
      'fj',
      [wanted('big', 2, { ...long, imageHere: false }), wanted('new', 1)],
      'big:- new:0',
      null,
    ],
    [
      'has one reservation at a time, for the longest wait that can be served',
      'fjs',
      [wanted('three', 3, long), wanted('two', 2, long), wanted('other', 2, long)],
      'three:- two:- other:-',
      'two',
    ],
    [
      'gives on what one that fits does not need',
      'ffff',
      [wanted('two', 2, long), wanted('new', 1)],
      'two:0,1 new:2',
      null,
    ],
  ])('%s', (_says, letters, line, gets, reserved) => {
    const walked = walkLine(line, machine(letters), rules);
    expect(told(walked)).toBe(gets);
    expect(walked.reservation?.runId ?? null).toBe(reserved);
  });

  test('never keeps a card where reservations are off', () => {
    const walked = walkLine([wanted('big', 2, long), wanted('new', 1)], machine('fj'), {
      ...rules,
      reserveAfterMs: null,
    });
    expect(told(walked)).toBe('big:- new:0');
  });

  test('says who stands before it, and for whom a card is kept', () => {
    const ahead = walkLine([wanted('old', 1, { asks: false }), wanted('new', 1)], machine('f'), rules);
    expect(ahead.shares.get('new')).toEqual({
      kind: 'waits',
      free: 0,
      reasons: [{ code: 'ahead_in_line', cards: [0] }],
    });
    const kept = walkLine([wanted('big', 2, long), wanted('new', 1)], machine('jf'), rules);
    expect(kept.shares.get('new')).toEqual({
      kind: 'waits',
      free: 0,
      reasons: [
        { code: 'job_held', cards: [0] },
        { code: 'reserved', cards: [1] },
      ],
    });
    expect(kept.reservation).toMatchObject({ runId: 'big', count: 2, cards: [{ index: 1, uuid: 'GPU-00000001' }] });
  });

  test('refuses what the machine can never serve, and goes on', () => {
    const walked = walkLine([wanted('huge', 3, long), wanted('new', 1)], machine('ff'), rules);
    expect(walked.shares.get('huge')).toEqual({ kind: 'never', machine: 2 });
    expect(told(walked)).toBe('huge:- new:0');
  });
});

describe('over its whole small space', () => {
  const MACHINES = ['f', 'j', 's', 'x'].flatMap((a) =>
    ['f', 'j', 's'].flatMap((b) => ['f', 'j', 'e'].map((c) => a + b + c)),
  );
  const ONE = [1, 2, 3].flatMap((count) =>
    [0, RESERVE_AFTER_MS].flatMap((waitedMs) =>
      [true, false].flatMap((imageHere) => [true, false].map((asks) => ({ count, waitedMs, imageHere, asks }))),
    ),
  );
  const LINES = [
    ...ONE.map((one) => [one]),
    ...ONE.flatMap((one) => ONE.map((other) => [one, other])),
    ...ONE.flatMap((one) => ONE.map((other) => [one, other, { count: 1, waitedMs: 0, imageHere: true, asks: true }])),
  ].map((line) => line.map((one, at) => ({ ...one, runId: `r${at}` })));

  test.each(MACHINES)('of %s no card goes to two, each gets what it asked for, and nobody is passed', (letters) => {
    const occupancy = machine(letters);
    const free = occupancy.cards.filter(({ state }) => state === 'free').length;
    const later = Array.from(letters).filter((letter) => letter === 'f' || letter === 'j').length;
    for (const line of LINES) {
      const walked = walkLine(line, occupancy, rules);
      const given = Array.from(walked.shares.values(), (share) => (share.kind === 'gets' ? share.cards : []));
      const indices = given.flat().map(({ index }) => index);
      expect(new Set(indices).size).toBe(indices.length);
      let left = free;
      let reserved: string | null = null;
      line.forEach(({ runId, count, waitedMs, imageHere }, at) => {
        const fits = imageHere && reserved === null && count <= left;
        expect(given[at]?.length).toBe(fits ? count : 0);
        if (fits) left -= count;
        else if (reserved === null && imageHere && waitedMs >= RESERVE_AFTER_MS && count <= later) reserved = runId;
      });
      expect(walked.reservation?.runId ?? null).toBe(reserved);
      expect(walked.reservation?.cards.length ?? 0).toBe(reserved === null ? 0 : left);
    }
  });
});
