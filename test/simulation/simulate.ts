/** `npm run simulate`: histories from seeds, what they reached, and the story of what went wrong. */

import { parseArgs } from 'node:util';
import { runHistory, type History } from './history/history.js';
import { planOf } from './history/plan.js';
import { shrink } from './history/shrink.js';
import { chanceOf } from './process/chance.js';
import { OFFENCES, type OffenceKind } from './watch/offences.js';

const HELP = `npm run simulate -- [--seeds N] [--from S] [--only OFFENCE] [--story]
  --seeds N        how many histories (1000)
  --from S         the first seed (0)
  --only OFFENCE   heed this offence alone: ${OFFENCES.join('; ')}
  --story          tell each history, whether or not anything went wrong`;

/** The exit status. */
export async function simulate(argv: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      seeds: { type: 'string', default: '1000' },
      from: { type: 'string', default: '0' },
      only: { type: 'string' },
      story: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const seeds = Number(values.seeds);
  const from = Number(values.from);
  const only = OFFENCES.find((kind) => kind === values.only) ?? null;
  const isUnderstood = Number.isSafeInteger(seeds) && seeds > 0 && Number.isSafeInteger(from) && from >= 0;
  if (values.help || !isUnderstood || (values.only !== undefined && only === null)) {
    console.log(HELP);
    return values.help ? 0 : 2;
  }
  // Errors are answers here, and nobody reads where they were made.
  Error.stackTraceLimit = 0;
  const tally = createTally();
  for (let seed = from; seed < from + seeds; seed += 1) {
    const history = await runHistory({ seed, plan: planOf(chanceOf(seed)), heeds: only, wantsStory: values.story });
    tally.add(seed, history);
    if (values.story) console.log([`seed ${seed}`, ...history.story].join('\n'));
  }
  console.log(tally.report());
  for (const [kind, [seed]] of tally.offences) if (seed !== undefined) console.log(await storyOf(seed, kind));
  return tally.offences.size === 0 ? 0 : 1;
}

/** The shortest story that a seed can be brought to. */
export async function storyOf(seed: number, kind: OffenceKind): Promise<string> {
  const { plan, history } = await shrink(seed, planOf(chanceOf(seed)), kind);
  const { gates, cards, redis, lockThrough } = plan;
  const setting = `${gates.length} gates, ${cards} cards, ${redis ? 'one Redis' : 'no Redis'}, lock through ${lockThrough}`;
  return [``, `seed ${seed}: ${kind} (${setting})`, ...history.story].join('\n');
}

interface Tally {
  add(seed: number, history: History): void;
  /** The seeds of each offence. */
  readonly offences: ReadonlyMap<OffenceKind, readonly number[]>;
  report(): string;
}

function createTally(): Tally {
  const reached = new Map<string, number>();
  const offences = new Map<OffenceKind, number[]>();
  const began = performance.now();
  const cpu = process.cpuUsage();
  let histories = 0;
  let steps = 0;
  return {
    offences,
    add(seed, { counts, offence, steps: more }) {
      histories += 1;
      steps += more;
      for (const [what, times] of counts) reached.set(what, (reached.get(what) ?? 0) + times);
      if (offence !== null) offences.set(offence.kind, [...(offences.get(offence.kind) ?? []), seed]);
    },
    report() {
      const { user, system } = process.cpuUsage(cpu);
      const seconds = (performance.now() - began) / 1000;
      const speed = `${histories} histories of ${Math.round(steps / histories)} steps in ${seconds.toFixed(1)} s (${((user + system) / 1e6).toFixed(1)} s of processor time)`;
      const counts = [...reached].toSorted().map(([what, times]) => `${String(times).padStart(9)}  ${what}`);
      const bad = [...offences].map(
        ([kind, seeds]) =>
          `${String(seeds.length).padStart(9)}  OFFENCE: ${kind}, seeds ${seeds.slice(0, 10).join(', ')}`,
      );
      return [`${speed}: ${Math.round(histories / seconds)}/s`, ...counts, ...bad].join('\n');
    },
  };
}
