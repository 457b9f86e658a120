/** `npm run simulate`: runs histories from seeds, and reports what they reached and the story of each offence. */

import { parseArgs } from 'node:util';
import { runHistory } from './history/history.js';
import { planOf } from './history/plan.js';
import { shrink } from './history/shrink.js';
import { unnoticedMutants } from './notice-mutants.js';
import { chanceOf } from './process/chance.js';
import { createTally, type Tally } from './tally.js';
import { OFFENCES, type OffenceKind } from './watch/offences.js';

const HELP = `npm run simulate -- [--seeds N] [--from S] [--only OFFENCE] [--first] [--story] [--mutants] [--mutant NAME]
  --seeds N        how many histories (5000)
  --from S         the first seed (0)
  --only OFFENCE   heed this offence alone, one of:
${OFFENCES.map((kind) => `                     ${kind}`).join('\n')}
  --first          stop at the first offence, and tell no story
  --story          tell each history, whether or not anything goes wrong
  --mutants        make each change of mutants.ts in a copy, and see whether it is noticed; --mutant NAME: that one`;

interface Wanted {
  readonly seeds: number;
  readonly from: number;
  readonly only: OffenceKind | null;
  readonly first: boolean;
  readonly story: boolean;
}

/** The exit status: 0 without an offence, 1 for an offence or an undetected mutation, 2 for a wrong argument. */
export async function simulate(argv: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      seeds: { type: 'string', default: '5000' },
      from: { type: 'string', default: '0' },
      only: { type: 'string' },
      first: { type: 'boolean', default: false },
      story: { type: 'boolean', default: false },
      mutants: { type: 'boolean', default: false },
      mutant: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const only = OFFENCES.find((kind) => kind === values.only) ?? null;
  const wanted = { ...values, seeds: Number(values.seeds), from: Number(values.from), only };
  const isUnderstood =
    isWhole(wanted.seeds, 1) && isWhole(wanted.from, 0) && (values.only === undefined || only !== null);
  if (values.help || !isUnderstood) {
    console.log(HELP);
    return values.help ? 0 : 2;
  }
  if (values.mutants || values.mutant !== undefined) {
    return unnoticedMutants(values.mutant ?? null, wanted.seeds, console.log) === 0 ? 0 : 1;
  }
  return simulateSeeds(wanted);
}

async function simulateSeeds(wanted: Wanted): Promise<number> {
  // Errors are results here, and their stack is never read.
  Error.stackTraceLimit = 0;
  const tally = createTally();
  await runAll(wanted, tally);
  const bad = [...tally.offences].flatMap(([kind, [seed]]) => (seed === undefined ? [] : [{ kind, seed }]));
  if (!wanted.first) console.log(tally.report());
  for (const { seed, kind } of bad) console.log(wanted.first ? `seed ${seed}: ${kind}` : await storyOf(seed, kind));
  return bad.length === 0 ? 0 : 1;
}

async function runAll({ seeds, from, only, first, story }: Wanted, tally: Tally): Promise<void> {
  for (let seed = from; seed < from + seeds; seed += 1) {
    const history = await runHistory({ seed, plan: planOf(chanceOf(seed)), heeds: only, wantsStory: story });
    tally.add(seed, history);
    if (story) console.log([`seed ${seed}`, ...history.story].join('\n'));
    if (first && history.offence !== null) return;
  }
}

/** The shortest story to which a seed can be reduced. */
export async function storyOf(seed: number, kind: OffenceKind): Promise<string> {
  const { plan, history } = await shrink(seed, planOf(chanceOf(seed)), kind);
  const { gates, cards, redis, lockThrough } = plan;
  const setting = `gates ${gates.join()}, cards ${cards}, Redis ${redis}, lock through ${lockThrough}`;
  return [``, `seed ${seed}: ${kind} (${setting})`, ...history.story].join('\n');
}

function isWhole(value: number, least: number): boolean {
  return Number.isSafeInteger(value) && value >= least;
}
