import type { History } from './history/history.js';
import type { OffenceKind } from './watch/offences.js';

/** Sums up what many histories reached. */
export interface Tally {
  add(seed: number, history: History): void;
  /** The seeds of each offence. */
  readonly offences: ReadonlyMap<OffenceKind, readonly number[]>;
  /** How often each answer, event and fault was reached. */
  readonly reached: ReadonlyMap<string, number>;
  report(): string;
}

/** The number of printed seeds per offence. */
const SEEDS_TOLD = 10;

export function createTally(): Tally {
  const reached = new Map<string, number>();
  const offences = new Map<OffenceKind, number[]>();
  const began = performance.now();
  const cpu = process.cpuUsage();
  let histories = 0;
  let steps = 0;
  return {
    offences,
    reached,
    add(seed, { counts, offence, steps: more }) {
      histories += 1;
      steps += more;
      for (const [what, times] of counts) reached.set(what, (reached.get(what) ?? 0) + times);
      if (offence !== null) offences.set(offence.kind, [...(offences.get(offence.kind) ?? []), seed]);
    },
    report() {
      const { user, system } = process.cpuUsage(cpu);
      const seconds = (performance.now() - began) / 1000;
      const busy = (user + system) / 1e6;
      return [
        `${histories} histories of ${Math.round(steps / histories)} steps in ${seconds.toFixed(1)} s: ${Math.round(histories / seconds)} a second, ${Math.round(histories / busy)} a second of processor time`,
        ...[...reached].toSorted(byName).map(([what, times]) => `${String(times).padStart(9)}  ${what}`),
        ...[...offences].map(
          ([kind, seeds]) =>
            `${String(seeds.length).padStart(9)}  OFFENCE: ${kind}, seeds ${seeds.slice(0, SEEDS_TOLD).join(', ')}`,
        ),
      ].join('\n');
    },
  };
}

function byName([one]: readonly [string, number], [other]: readonly [string, number]): number {
  return one < other ? -1 : 1;
}
