import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { runHistory } from './history/history.js';
import { planOf } from './history/plan.js';
import { MUTANTS } from './mutants.js';
import { chanceOf } from './process/chance.js';
import { storyOf } from './simulate.js';
import { createTally } from './tally.js';

const SEEDS = 5000;
/** Some ten seconds of a processor, however long it takes to get them. */
const PATIENCE_MS = 1_800_000;

describe('the product on an engine, a Redis and a clock of ours', () => {
  const tally = createTally();

  test(
    `never does what must not be, in the histories of the first ${SEEDS} seeds`,
    async () => {
      const errorsAsTheyWere = Error.stackTraceLimit;
      Error.stackTraceLimit = 0;
      for (let seed = 0; seed < SEEDS; seed += 1) tally.add(seed, await historyOf(seed));
      Error.stackTraceLimit = errorsAsTheyWere;
      const bad = [...tally.offences].flatMap(([kind, [seed]]) => (seed === undefined ? [] : [{ kind, seed }]));
      expect(await Promise.all(bad.map(({ seed, kind }) => storyOf(seed, kind)))).toEqual([]);
    },
    PATIENCE_MS,
  );

  test.each([
    'answer: admitted',
    'answer: replayed',
    'answer: ended',
    'answer: starting',
    'answer: start_failed',
    'answer: client_gone',
    'answer: run_id_reused',
    'answer: lock_unavailable',
    'answer: wait (lost_race)',
    'DELETE: removed',
    'claim race',
    'left-over removed',
    'lock lost',
    'removed run, told by its events',
    'a process crashed',
    'a process thawed',
    'event: clock',
    'event: engine restarts',
    'event: redis restarts',
    'event: hand rename',
    'event: hand copy',
    'fault: done, its answer is lost',
    'fault: lost on its way',
    'fault: takes very long to arrive',
  ])('comes on its way to: %s', (what) => expect(tally.reached.get(what) ?? 0).toBeGreaterThan(0));
});

describe('a history', () => {
  test.each([7, 77, 777])('is the same each time, by its seed %i', async (seed) => {
    const [once, again] = [await historyOf(seed, true), await historyOf(seed, true)];
    expect(once.story.length).toBeGreaterThan(10);
    expect(again.story).toEqual(once.story);
  });
});

test.each(MUTANTS.map(({ name, file, find }) => [name, file, find] as const))(
  'the line for the change "%s" is there, once',
  (_name, file, find) => expect(readFileSync(file, 'utf8').split(find)).toHaveLength(2),
);

function historyOf(seed: number, wantsStory = false) {
  return runHistory({ seed, plan: planOf(chanceOf(seed)), wantsStory });
}
