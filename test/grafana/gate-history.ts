/**
 * The pages that a gate would have shown, scrape by scrape, as input for `promtool test rules`. The gate's own code renders
 * them.
 */

import { JOB } from '../../grafana/alerts/rule.js';
import { createExposition } from '../../src/metrics/exposition.js';
import { createMeter, type MeterWithRegistry } from '../../src/metrics/meter.js';
import type { JudgedCard, Occupancy } from '../../src/model/occupancy.js';
import type { GateStatus } from '../../src/model/ports/admissions.js';
import type { Observation } from '../../src/model/ports/eyes.js';
import type { InForce, RuleFileStatus } from '../../src/model/ports/rule-files.js';
import type { ProbeName } from '../../src/model/snapshot.js';
import { watchHeldUse } from '../../src/observe/held-use.js';
import { card, claim, handClock, IDLE, watched, type Fared } from '../metrics/occupancies.js';
import { seriesOf } from '../metrics/page.js';

/** The machine of the stories, and how often it is scraped. */
export const INSTANCE = 'gpu-01:9841';
export const SCRAPE_S = 15;

/** A few minutes in which the gate's page stays the same; omitted fields are those of a healthy machine. */
export interface Chapter {
  readonly minutes: number;
  /** `down`: the scrapes fail. `unscraped`: Prometheus does not scrape. */
  readonly gate?: 'up' | 'down' | 'unscraped';
  /** The process was restarted: its counters begin at 0 again. */
  readonly restarted?: boolean;
  readonly cards?: readonly JudgedCard[];
  readonly fared?: Partial<Record<ProbeName, Fared>>;
  readonly but?: Partial<Occupancy>;
  readonly status?: Partial<GateStatus>;
  /** The access files (tokens, policy) whose version in force differs from the file. */
  readonly ruleFiles?: Readonly<Record<string, InForce>>;
  /** The age of the look at the first scrape, which then keeps growing. */
  readonly frozen?: boolean;
  /** No look was available at all. */
  readonly lookless?: boolean;
  /** What happened before the first scrape of the chapter. */
  readonly once?: (meter: MeterWithRegistry) => void;
  /** What happened before each scrape. */
  readonly each?: (meter: MeterWithRegistry, scrape: number) => void;
}

/** A line of `input_series`. */
export interface InputSeries {
  readonly series: string;
  readonly values: string;
}

/** One card is free, the other held by a job that uses it. */
export const HEALTHY: readonly JudgedCard[] = [card(0), held(1)];

/** A card that a job holds and uses. */
export function held(index: number, but: Partial<JudgedCard> = {}): JudgedCard {
  return card(index, {
    state: 'job_held',
    claims: [claim('train-17')],
    processes: 1,
    utilization: 0.97,
    heldIdleSeconds: 0,
    memoryUsedBytes: 40 * 1024 ** 3,
    ...but,
  });
}

/** Every series of all the pages, and `up`. */
export async function historyOf(chapters: readonly Chapter[]): Promise<readonly InputSeries[]> {
  const clock = handClock();
  const pages: (ReadonlyMap<string, string> | null)[] = [];
  const up: (string | null)[] = [];
  let meter = createMeter();
  let heldUse = watchHeldUse();
  for (const chapter of chapters) {
    const from = pages.length * SCRAPE_S;
    if (chapter.restarted === true) [meter, heldUse] = [createMeter(), watchHeldUse()];
    chapter.once?.(meter);
    for (let scrape = 0; scrape < chapter.minutes * (60 / SCRAPE_S); scrape += 1) {
      const gate = chapter.gate ?? 'up';
      up.push(gate === 'unscraped' ? null : gate === 'up' ? '1' : '0');
      chapter.each?.(meter, scrape);
      if (gate === 'up' && chapter.lookless !== true) {
        meter.held(heldUse(lookOf(chapter, 0).occupancy, clock.monotonic()));
      }
      const lookedAt = chapter.frozen === true ? from : pages.length * SCRAPE_S;
      pages.push(gate === 'up' ? await pageOf(chapter, meter, lookedAt) : null);
      clock.forward(SCRAPE_S * 1000);
    }
  }
  const names = new Set(pages.flatMap((page) => [...(page?.keys() ?? [])]));
  return [
    line('up', up),
    ...Array.from(names, (name) =>
      line(
        name,
        pages.map((page) => page?.get(name) ?? null),
      ),
    ),
  ];
}

function lookOf({ cards, fared, but }: Chapter, lookedAt: number): Observation {
  return watched(cards ?? HEALTHY, fared, { observedAtMs: lookedAt * 1000, ...but });
}

async function pageOf(
  chapter: Chapter,
  meter: MeterWithRegistry,
  lookedAt: number,
): Promise<ReadonlyMap<string, string>> {
  const look = lookOf(chapter, lookedAt);
  if (chapter.lookless !== true) meter.looked(look.snapshot);
  const seen: Observation | null = chapter.lookless === true ? null : look;
  const onFault = (fault: unknown): void => {
    throw fault;
  };
  const status = { ...IDLE, ...chapter.status };
  const inForce = { tokens: 'as_written', policy: 'as_written', ...chapter.ruleFiles } as const;
  const ruleFiles = (): readonly RuleFileStatus[] =>
    Object.entries(inForce).map(([file, how]) => ({ file, inForce: how, readAtMs: 0 }));
  return seriesOf(
    await createExposition(meter, { holders: true, process: null, ruleFiles, cardsReserved: () => 0, onFault })(
      seen,
      status,
    ),
  );
}

function line(series: string, values: readonly (string | null)[]): InputSeries {
  const own = `job="${JOB}",instance="${INSTANCE}"`;
  const labelled = series.includes('{') ? series.replace('{', `{${own},`) : `${series}{${own}}`;
  return { series: labelled, values: inPromtoolsWords(values) };
}

/** `1+0x9` is ten times 1, `_x10` is ten missing samples; a series that ends is marked `stale`, as Prometheus does. */
function inPromtoolsWords(values: readonly (string | null)[]): string {
  const words: string[] = [];
  let from = 0;
  for (let at = 1; at <= values.length; at += 1) {
    if (at < values.length && values[at] === values[from]) continue;
    const [value, times] = [values[from] ?? null, at - from];
    if (value !== null) words.push(`${value}+0x${times - 1}`);
    else if (from === 0) words.push(`_x${times}`);
    else words.push('stale', ...(times > 1 ? [`_x${times - 1}`] : []));
    from = at;
  }
  return words.join(' ');
}
