/** Times, their median and their spread. */

export interface Figures {
  readonly runs: number;
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/** Median, and the second lowest and second highest of many (the lowest and highest of few). */
export function figures(values: readonly number[]): Figures {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (place: number): number => sorted[Math.min(sorted.length - 1, Math.max(0, place))] ?? Number.NaN;
  const edge = sorted.length >= 8 ? 1 : 0;
  const middle = (sorted.length - 1) / 2;
  return {
    runs: sorted.length,
    median: (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2,
    low: at(edge),
    high: at(sorted.length - 1 - edge),
  };
}

export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil((percent / 100) * sorted.length) - 1)] ?? Number.NaN;
}

/** The duration of the work in milliseconds. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** Runs both in turn, so that a change of the machine's speed affects both. */
export async function sideBySide(
  rounds: number,
  ours: () => Promise<unknown>,
  theirs: () => Promise<unknown>,
): Promise<{ readonly ours: Figures; readonly theirs: Figures; readonly ratio: Figures }> {
  const pairs: [number, number][] = [];
  await ours();
  await theirs();
  for (let round = 0; round < rounds; round++) pairs.push([await timed(ours), await timed(theirs)]);
  return {
    ours: figures(pairs.map(([a]) => a)),
    theirs: figures(pairs.map(([, b]) => b)),
    ratio: figures(pairs.map(([a, b]) => a / b)),
  };
}

/** One row of the table. `measured` and `mark` are for people; `met` says whether the target is met. */
export interface Row {
  readonly what: string;
  readonly against: string;
  readonly measured: string;
  readonly mark: string;
  readonly met: boolean;
}

export const ms = (value: number): string => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
export const spread = ({ median, low, high }: Figures, as: (value: number) => string): string =>
  `${as(median)} (${as(low)} to ${as(high)})`;
export const times = (value: number): string => value.toFixed(2);

export function asMarkdown(rows: readonly Row[]): string {
  const lines = rows.map(
    (row) => `| ${row.what} | ${row.against} | ${row.measured} | ${row.mark} | ${row.met ? 'yes' : '**no**'} |`,
  );
  return ['| what | against | measured: median (spread) | mark | kept |', '|---|---|---|---|---|', ...lines, ''].join(
    '\n',
  );
}
