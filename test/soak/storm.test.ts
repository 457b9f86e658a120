import { expect, test } from 'vitest';
import { storm } from './storm.js';

/** A quarter of a minute of it in every test run; `npm run soak -- --minutes 10 --seed 7` for longer. */
const seconds = Number(process.env['SOAK_SECONDS'] ?? 15);
const seed = Number(process.env['SOAK_SEED'] ?? Date.now() % 100_000);

test(
  `a storm of ${seconds} s with seed ${seed} leaves nothing wrong behind`,
  { timeout: seconds * 1000 + 300_000 },
  async () => {
    const report = await storm(seconds, seed);
    expect(report.answers['admitted'] ?? 0).toBeGreaterThan(0);
    expect(report.offences).toEqual({
      twoLiveContainersOnACard: [],
      startedAgain: [],
      runsExecutedAgain: [],
      cardsHeldByNothingAtTheEnd: [],
      admittedWithoutAContainer: [],
      createdBeyondTheGrace: [],
      freeThatWasNot: [],
      gatesInTrouble: [],
    });
  },
);
