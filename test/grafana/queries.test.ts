import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cardAt } from '../../src/stand-in/machine/build-machine.js';
import { panel, panelsOf, type DashboardFile } from './dashboard-file.js';
import { expand } from './expand.js';
import { groupedBy, namesIn } from './promql-names.js';
import { card, fleet, JOB, startWatchedGate, until, type WatchedGate } from './watched-gate.js';

/** Every query of a dashboard, with a name for the table. */
const queriesOf = (dashboard: DashboardFile) =>
  panelsOf(dashboard).flatMap(({ title, targets }) =>
    targets.map((target) => [`${dashboard.title}: ${title} ${target.refId}`, { dashboard, ...target }] as const),
  );
const queries = [...queriesOf(fleet), ...queriesOf(card)];
const eightTimes = (text: string) => Object.fromEntries(Array.from({ length: 8 }, (_, index) => [String(index), text]));

describe('the dashboards, on a real Prometheus that scrapes a real gate', () => {
  let watched: WatchedGate;

  beforeAll(async () => {
    watched = await startWatchedGate();
    await watched.choose(cardAt(watched.machine, 0).uuid);
  });
  afterAll(async () => {
    await watched?.stop();
  });

  test('the choices are the gates, also the one that never answered', () => {
    const { chosen, here, silent } = watched;
    expect(chosen(fleet)['job']).toEqual([JOB]);
    expect(new Set(chosen(fleet)['instance'])).toEqual(new Set([here, silent]));
  });

  test.each(queries)('%s names only what is on the page of the gate', async (_title, { expr }) => {
    const given = new Set(['job', 'instance']);
    const page = labelsByName([...(await watched.gate.metrics()).keys()]).set('up', new Set());
    const reads = namesIn(expr);
    expect(reads).not.toEqual([]);
    for (const { metric, labels } of reads) {
      expect([...page.keys()]).toContain(metric);
      expect(labels.filter((label) => !given.has(label) && page.get(metric)?.has(label) !== true)).toEqual([]);
    }
    const there = new Set([...given, ...reads.flatMap(({ metric }) => [...(page.get(metric) ?? [])])]);
    expect(groupedBy(expr).filter((label) => !there.has(label))).toEqual([]);
  });

  test.each(queries)('%s gives a number', async (_title, { dashboard, expr, range, legendFormat = '' }) => {
    const { prometheus, chosen } = watched;
    const asked = expand(expr, chosen(dashboard));
    const now = await prometheus.query(asked);
    expect(
      now.some(({ value }) => Number.isFinite(value)),
      asked,
    ).toBe(true);
    if (range) expect(await prometheus.queryRange(asked, 30, 1)).not.toEqual([]);
    // A legend that names a label which is not there is a line without a name.
    for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) {
      expect(now.every(({ labels }) => labels[label] !== undefined)).toBe(true);
    }
  });

  test('the large numbers are those of the machine', async () => {
    const { by, values } = watched;
    expect(await by('state', fleet, 'Cards by state')).toEqual({
      free: 2,
      job_held: 2,
      external: 1,
      unhealthy: 1,
      unknown: 1,
      excluded: 1,
    });
    expect(await values(fleet, 'Cards by state', 'B')).toEqual([0]);
    expect([await values(fleet, 'Gates', 'A'), await values(fleet, 'Gates', 'B')]).toEqual([[1], [1]]);
    expect(await values(fleet, 'To be looked at', 'A')).toEqual([2]);
    expect(await values(fleet, 'To be looked at', 'B')).toEqual([0]);
  });

  test('a run that was told to wait is in line', async () => {
    // For 30 s after it was told.
    const { expr = '' } = panel(fleet, 'Runs waiting').targets[0] ?? {};
    const lately = `max_over_time((${expand(expr, watched.chosen(fleet))})[60s:1s])`;
    // Up to the last whole second, so that the newest scrape is not in it yet.
    await until(async () => expect(await watched.prometheus.query(lately)).toMatchObject([{ value: 1 }]));
  });

  test('each card is one row, with all reasons in one text', async () => {
    const { by, shown, texts } = watched;
    expect(await texts('state', 'index', fleet, 'Cards')).toEqual({
      0: 'job_held',
      1: 'job_held',
      2: 'external',
      3: 'free',
      4: 'unknown',
      5: 'free',
      6: 'unhealthy',
      7: 'excluded',
    });
    expect(await texts('reasons', 'index', fleet, 'Cards', 'F')).toEqual({
      1: 'ecc_uncorrected',
      6: 'ecc_uncorrected, recovery_action',
    });
    expect(await texts('warnings', 'index', fleet, 'Cards', 'G')).toEqual({ 5: 'row_remap_pending' });
    for (const refId of ['A', 'B', 'F', 'G']) expect(await shown(fleet, 'Cards', refId)).toHaveLength(8);
    expect(Object.keys(await by('index', fleet, 'Cards', 'D'))).toEqual(['0', '1', '2', '3', '5', '6', '7']);
    // Only these two changed their state while somebody looked; the moment is in milliseconds.
    const since = await by('index', fleet, 'Cards', 'C');
    expect(Object.keys(since)).toEqual(['0', '1']);
    for (const moment of Object.values(since)) expect(Math.abs(Date.now() - moment)).toBeLessThan(60_000);
  });

  test('each eye of each machine has a lamp', async () => {
    const { by, here, silent } = watched;
    expect(await lampsOf(watched, here)).toEqual({
      gate: 1,
      gpus: 1,
      processes: 1,
      health: 1,
      docker: 1,
      kernel: 1,
      memory: 1,
      redis: 1,
    });
    expect(await lampsOf(watched, silent)).toEqual({ gate: 0 });
    expect(await by('instance', fleet, 'Redis')).toEqual({ [here]: 1, [silent]: -1 });
  });

  test('the card that is held shows its run, its state and its claim', async () => {
    const { by, values, machine } = watched;
    expect(await by('state', card, 'State now')).toEqual({ job_held: 1 });
    expect(await by('run_id', card, 'Held by')).toEqual({ 'train-17': 1 });
    expect(await values(card, 'State over time')).toEqual([1]);
    expect(await values(card, 'Processes and claims', 'B')).toEqual([1]);
    expect(await by('name', card, 'What it is')).toEqual({ [cardAt(machine, 0).name]: 1 });
  });

  test('the card that is unhealthy shows each reason', async () => {
    const { by, values } = watched;
    await watched.choose(cardAt(watched.machine, 6).uuid);
    expect(await by('reason', card, 'Reasons to be unhealthy')).toMatchObject({
      ecc_uncorrected: 1,
      recovery_action: 1,
      missing: 0,
    });
    expect(await by('reason', card, 'Warnings')).toMatchObject({ row_remap_pending: 0 });
    expect(await values(card, 'State over time')).toEqual([3]);
  });

  test('health that could not be read is no health', async () => {
    const { gate, texts, values } = watched;
    gate.setNvidiaSmi('none');
    // All but the two that are held and the one that is excluded.
    await until(async () => expect(await values(fleet, 'To be looked at', 'C')).toEqual([5]));
    expect(await texts('reasons', 'index', fleet, 'Cards', 'F')).toEqual(eightTimes('health not read'));
  });

  describe('once the gate is down', () => {
    beforeAll(async () => {
      await watched.gate.kill();
      await until(async () => expect(await watched.prometheus.query('sum(up) == 0')).toHaveLength(1));
    });

    test('it reads as down, and its cards as not seen instead of as none', async () => {
      const { values } = watched;
      expect([await values(fleet, 'Gates', 'A'), await values(fleet, 'Gates', 'B')]).toEqual([[0], [2]]);
      expect(await values(fleet, 'Cards by state', 'A')).toEqual([]);
      expect(await values(fleet, 'Cards by state', 'B')).toEqual([8]);
      expect(await values(fleet, 'Cards by state over time', 'B')).toEqual([8]);
    });

    test.each(['A', 'B', 'C'])('no finding of it reads as 0: %s', async (refId) => {
      expect(await watched.values(fleet, 'To be looked at', refId)).toEqual([]);
    });

    test('its cards keep their rows, and their names', async () => {
      const { shown, texts } = watched;
      expect(await texts('state', 'index', fleet, 'Cards')).toEqual(eightTimes('not_seen'));
      expect(await shown(fleet, 'Cards', 'B')).toHaveLength(8);
    });

    test('its lamps are not seen, and the gate itself has failed', async () => {
      const { here, values } = watched;
      const lamps = { gpus: -1, processes: -1, health: -1, docker: -1, kernel: -1, memory: -1, redis: -1 };
      expect(await lampsOf(watched, here)).toEqual({ gate: 0, ...lamps });
      expect(await values(fleet, 'Redis')).toEqual([-1, -1]);
    });

    test('the dashboard of a card says that it is not seen, and still what it is', async () => {
      const { by, shown, values } = watched;
      expect(await by('state', card, 'State now')).toEqual({ not_seen: 1 });
      expect(await values(card, 'State over time')).toEqual([0]);
      expect(await shown(card, 'What it is')).toHaveLength(1);
      for (const title of ['Reasons to be unhealthy', 'Memory', 'Processes and claims', 'Persistence mode']) {
        expect(await values(card, title)).toEqual([]);
      }
    });

    test('it can still be chosen, and its card too', async () => {
      const before = watched.chosen(fleet);
      await watched.choose(cardAt(watched.machine, 6).uuid);
      expect(watched.chosen(fleet)).toEqual(before);
    });
  });

  test.each(queriesOf(fleet))('where no gate was ever scraped there is no number: %s', async (_title, { expr }) => {
    expect(await watched.prometheus.query(expand(expr, { job: [], instance: [] }))).toEqual([]);
  });

  test('a query that Prometheus cannot read is told', async () => {
    const broken = expand('sum by (tuneplane_gpu_cards{job=~"$job"}', watched.chosen(fleet));
    await expect(watched.prometheus.query(broken)).rejects.toThrow(/parse error/);
  });
});

async function lampsOf({ shown }: WatchedGate, instance: string): Promise<Readonly<Record<string, number>>> {
  const lamps = (await shown(fleet, 'What the gates can see')).filter(({ labels }) => labels['instance'] === instance);
  return Object.fromEntries(lamps.map(({ labels, value }) => [labels['probe'] ?? '', value]));
}

/** Of the series of a page, written as `name{a="x",b="y"}`: the labels that each name has. */
function labelsByName(series: readonly string[]): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const each of series) {
    const [name = '', inside = ''] = each.split('{');
    const labels = found.get(name) ?? new Set();
    for (const [, label = ''] of inside.matchAll(/(\w+)="/g)) labels.add(label);
    found.set(name, labels);
  }
  return found;
}
