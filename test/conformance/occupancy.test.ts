import { describe, expect, test } from 'vitest';
import type { JudgedCard, Occupancy } from '../../src/model/occupancy.js';
import { whoCouldServe } from '../../src/occupancy/feasible.js';
import { judge } from '../../src/occupancy/judge.js';
import { pick } from '../../src/pick/pick.js';
import { readVectors, rulesOf, snapshotOf, vectorFiles, type OccupancyVector } from './vectors.js';

const indicesOf = (cards: readonly JudgedCard[]) => cards.flatMap(({ index }) => (index === null ? [] : [index]));

/** The judgement in the words of the vectors: what is excluded by count is no card there, and a held card is only held. */
function summed({ cards, externalProbeOk }: Occupancy) {
  const counted = cards.filter(({ excluded }) => excluded?.by !== 'count');
  const notHeld = counted.filter(({ claims }) => claims.length === 0);
  return {
    total: counted.length,
    by_job: Object.fromEntries(
      counted.flatMap(({ index, claims }) => (claims[0] === undefined ? [] : [[String(index), claims[0].runId]])),
    ),
    external: indicesOf(notHeld.filter(({ external }) => external !== null)),
    unhealthy: indicesOf(notHeld.filter(({ unhealthy }) => unhealthy.length > 0)),
    external_probe_ok: externalProbeOk,
  };
}

function answerTo(
  occupancy: Occupancy,
  count: number,
  admitWhenBlind: boolean,
): readonly number[] | 'not-now' | 'never' {
  const serve = whoCouldServe(occupancy, count, admitWhenBlind);
  if (serve.kind === 'never') return 'never';
  if (serve.kind === 'not_now') return 'not-now';
  const picked = pick(indicesOf([...serve.free, ...serve.blind]), count, null);
  if (picked === null) throw new Error(`${count} cards were said to fit and could not be picked`);
  return picked.indices;
}

describe.each(vectorFiles('occupancy'))('the occupancy vectors ($name)', ({ url }) => {
  const vectors = readVectors(url) as readonly OccupancyVector[];

  test.each(vectors.map((vector, at) => [vector.says ?? `vector ${at + 1}`, vector] as const))(
    '%s',
    (_says, { machine, expected }) => {
      const { settings } = machine;
      const occupancy = judge(snapshotOf(machine), rulesOf(machine));
      const { free: _cards, picks, ...sums } = expected;
      expect(summed(occupancy)).toEqual(sums);

      for (const [asked, theirs] of Object.entries(picks)) {
        const [run, count] = asked.split(':');
        if (run !== 'new-run') continue;
        const ours = answerTo(occupancy, Number(count), settings.admit_when_blind);
        // Which cards is a matter of taste (the pick vectors); how many, and whether now, later or never, is not.
        expect(typeof ours === 'string' ? ours : ours.length, asked).toBe(
          typeof theirs === 'string' ? theirs : theirs.length,
        );
        if (typeof ours !== 'string') expect(expected.free, asked).toEqual(expect.arrayContaining([...ours]));
      }
    },
  );

  test('are there', () => expect(vectors.length).toBeGreaterThanOrEqual(15));
});
