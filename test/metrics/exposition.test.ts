import { describe, expect, test } from 'vitest';
import { createExposition, type PageOptions } from '../../src/metrics/exposition.js';
import { createMeter, type MeterWithRegistry } from '../../src/metrics/meter.js';
import { METRICS } from '../../src/metrics/names.js';
import { createProcessMetrics } from '../../src/metrics/process-metrics.js';
import { cardUuid } from '../../src/model/card.js';
import type { GateStatus } from '../../src/model/ports/admissions.js';
import type { Observation } from '../../src/model/ports/eyes.js';
import { card, claim, IDLE, LOOK_AT_MS, snapshot, unseenCard, watched } from './occupancies.js';
import { promtool, seriesOf } from './page.js';

const BUILD = { version: '0.1.0', revision: 'abc1234' };
const newMeter = (): MeterWithRegistry => createMeter(BUILD);

async function render(
  look: Observation | null,
  meter = newMeter(),
  options: Partial<PageOptions> = {},
  status: GateStatus | null = IDLE,
): Promise<string> {
  const onFault = (fault: unknown): void => {
    throw fault;
  };
  return createExposition(meter, {
    holders: false,
    process: null,
    ruleFiles: () => [],
    cardsReserved: () => 0,
    onFault,
    ...options,
  })(look, status);
}

/** Two cards in use, one broken one; everything can be seen. */
const busyMachine = (): Observation =>
  watched([
    card(0, {
      state: 'job_held',
      heldIdleSeconds: 5400,
      claims: [claim('train-17')],
      processes: 1,
      memoryUsedBytes: 851_443_712,
    }),
    card(1, { state: 'external', processes: 1, memoryUsedBytes: 851_443_712 }),
    card(2, {
      state: 'unhealthy',
      health: { ecc_uncorrected: true, hw_slowdown: false },
      warned: { row_remap_pending: true },
      persistenceMode: false,
    }),
  ]);

/** nvidia-smi hangs: the books still say who holds card 0. */
const blindMachine = (): Observation =>
  watched([unseenCard(0, { state: 'job_held', claims: [claim('train-17')] }), unseenCard(1)], {
    gpus: 'timeout',
    processes: 'overlap',
    health: 'timeout',
  });

/** Docker is down: nothing can be said of claims, and no card is free. */
const dockerDown = (): Observation => watched([card(0, { state: 'unknown' })], { docker: 'unavailable' });

describe('a page is what it was when it was last read by a person', () => {
  test.each([
    ['a busy machine', 'busy.txt', busyMachine(), { holders: true }],
    ['nvidia-smi hangs', 'blind.txt', blindMachine(), {}],
    ['Docker is down', 'docker-down.txt', dockerDown(), {}],
    ['no look could be had at all', 'no-look.txt', null, {}],
  ])('%s', async (_says, file, look, options) => {
    const page = await render(look, newMeter(), options);
    // The counters are the same on all of them and have their own test.
    const shown = page.slice(0, page.indexOf('# HELP tuneplane_gpu_admissions_total'));
    await expect(shown).toMatchFileSnapshot(`golden/${file}`);
  });
});

describe('promtool has no remark', () => {
  test.each([
    ['on a full page', busyMachine(), { holders: true }],
    ['when nvidia-smi is blind', blindMachine(), {}],
    ['when Docker is down', dockerDown(), {}],
    ['when no card was ever seen', watched([], { gpus: 'spawn' }), {}],
    ['when no look could be had', null, {}],
  ])('%s', async (_says, look, options) => {
    const page = await render(look, newMeter(), { process: createProcessMetrics(), ...options });
    expect(await promtool(page)).toEqual({ code: 0, remarks: '' });
    expect(page).not.toMatch(/nan$/im);
  });

  test('and it would have one: a counter without _total is refused', async () => {
    const remarks = await promtool(
      '# HELP tuneplane_gpu_lost Lost.\n# TYPE tuneplane_gpu_lost counter\ntuneplane_gpu_lost 1\n',
    );
    expect(remarks.code).not.toBe(0);
  });
});

test('of each file that says who may do what the page tells whether it is in force as written, and since when', async () => {
  const kinds = ['as_written', 'in_part', 'as_before', 'nothing'] as const;
  const ruleFiles = () => kinds.map((inForce, at) => ({ file: inForce, inForce, readAtMs: at * 1500 }));
  const page = await render(busyMachine(), newMeter(), { ruleFiles });
  expect(page.match(/^tuneplane_gpu_config_reload.*$/gm)).toEqual([
    'tuneplane_gpu_config_reload_success{file="as_written"} 1',
    ...kinds.slice(1).map((kind) => `tuneplane_gpu_config_reload_success{file="${kind}"} 0`),
    ...kinds.map((kind, at) => `tuneplane_gpu_config_reload_timestamp_seconds{file="${kind}"} ${at * 1.5}`),
  ]);
});

describe('every metric of the table', () => {
  test('is on a full page', async () => {
    const look = busyMachine();
    const meter = newMeter();
    meter.looked(look.snapshot);
    meter.xid(cardUuid('GPU-00000001'), 79);
    const ruleFiles = () => [{ file: 'policy', inForce: 'as_written', readAtMs: 0 }] as const;
    const page = await render(look, meter, { holders: true, ruleFiles }, { ...IDLE, redisUp: true });
    const typed = [...page.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => `${name} ${type}`);
    expect(typed.toSorted()).toEqual(
      Object.values(METRICS)
        .map(({ name, type }) => `${name} ${type}`)
        .toSorted(),
    );
  });

  test('has no label but those it was given', async () => {
    const page = await render(busyMachine(), newMeter(), { holders: true });
    for (const series of seriesOf(page).keys()) {
      const name = series.replace(/\{.*/, '');
      const metric = Object.values(METRICS).find(
        (each) => name.replace(/_(bucket|sum|count)$/, '') === each.name || name === each.name,
      );
      const labels = [...series.matchAll(/[{,](\w+)="/g)]
        .map(([, label]) => String(label))
        .filter((label) => label !== 'le');
      expect({ name, labels }).toEqual({ name, labels: metric?.labels });
    }
  });
});

describe('states', () => {
  test('add up to the known cards, all six always there', async () => {
    const series = seriesOf(await render(busyMachine()));
    const cards = [...series].filter(([name]) => name.startsWith('tuneplane_gpu_cards{'));
    expect(cards).toHaveLength(6);
    expect(cards.reduce((sum, [, value]) => sum + Number(value), 0)).toBe(3);
  });

  test('each card is in exactly one', async () => {
    const series = seriesOf(await render(busyMachine()));
    for (const index of [0, 1, 2]) {
      const of = [...series].filter(([name]) => name.startsWith(`tuneplane_gpu_card_state{uuid="GPU-0000000${index}"`));
      expect(of.map(([, value]) => value).toSorted()).toEqual(['0', '0', '0', '0', '0', '1']);
    }
  });
});

describe('what is gone is gone', () => {
  test('a holder that left, a card that went, a thousand jobs: the page is of one look alone', async () => {
    const meter = newMeter();
    const held = (runId: string): Observation =>
      watched([card(0, { state: 'job_held', claims: [claim(runId)] }), card(1)]);
    const withHolders = { holders: true };
    await render(held('alice'), meter, withHolders);
    const second = await render(held('bob'), meter, withHolders);
    expect(second.match(/card_holder_info\{.*/g)).toEqual([
      'card_holder_info{uuid="GPU-00000000",index="0",run_id="bob"} 1',
    ]);

    const missing = unseenCard(1, { state: 'unhealthy', health: { missing: true } });
    const third = seriesOf(await render(watched([card(0), missing]), meter, withHolders));
    expect(third.get('tuneplane_gpu_card_unhealthy{uuid="GPU-00000001",index="1",reason="missing"}')).toBe('1');
    expect([...third.keys()].filter((name) => /card_(memory|processes).*GPU-00000001/.test(name))).toEqual([]);
    expect([...third.keys()].filter((name) => name.includes('holder_info'))).toEqual([]);

    const before = seriesOf(second).size;
    let last = '';
    for (let job = 0; job < 1000; job += 1) {
      meter.outcome('admitted', 0.2);
      if (job % 100 === 99) last = await render(held(`job-${job}`), meter, withHolders);
    }
    expect(seriesOf(last).size).toBe(before);
  });

  test('no label carries a run id unless the operator asked for it', async () => {
    expect(await render(busyMachine(), newMeter())).not.toContain('train-17');
  });
});

describe('probes', () => {
  test('a dead nvidia-smi leaves no reading behind, keeps who holds what, and dates its last success', async () => {
    const meter = newMeter();
    meter.looked(snapshot({}, LOOK_AT_MS - 300_000));
    const look = blindMachine();
    meter.looked(look.snapshot);
    const series = seriesOf(await render(look, meter));
    expect(series.get('tuneplane_gpu_probe_success{probe="gpus"}')).toBe('0');
    expect(series.get('tuneplane_gpu_external_probe_ok')).toBe('0');
    expect(series.get('tuneplane_gpu_probe_last_success_timestamp_seconds{probe="gpus"}')).toBe('1795953300.1');
    expect(series.get('tuneplane_gpu_probe_failures_total{probe="gpus",reason="timeout"}')).toBe('1');
    expect(series.get('tuneplane_gpu_card_claims{uuid="GPU-00000000",index="0"}')).toBe('1');
    expect([...series.keys()].filter((name) => name.includes('memory_used'))).toEqual([]);
  });

  test('a dead Docker leaves the readings, and says nothing of claims', async () => {
    const series = seriesOf(await render(dockerDown()));
    expect(series.get('tuneplane_gpu_probe_success{probe="docker"}')).toBe('0');
    expect(series.get('tuneplane_gpu_cards{state="free"}')).toBe('0');
    expect(series.has('tuneplane_gpu_card_memory_used_bytes{uuid="GPU-00000000",index="0"}')).toBe(true);
    expect([...series.keys()].filter((name) => name.includes('card_claims'))).toEqual([]);
  });

  test('health that is switched off cannot see; processes that are switched off are not spoken of', async () => {
    const series = seriesOf(await render(watched([card(0)], { health: 'off', processes: 'off' })));
    const told = [...series].filter(([name]) => name.startsWith('tuneplane_gpu_probe_success'));
    expect(told.map(([name, value]) => `${name.replace(/.*probe="(\w+)".*/, '$1')} ${value}`)).toEqual([
      'gpus 1',
      'health 0',
      'docker 1',
    ]);
  });

  test('a probe that never could see has no date', async () => {
    const page = await render(
      watched([], { gpus: 'spawn', processes: 'spawn', health: 'spawn', docker: 'unavailable' }),
    );
    expect(page).not.toContain('last_success');
  });
});

describe('labels', () => {
  test('cards whose uuid or index is unknown keep series of their own', async () => {
    const nameless = { uuid: null, name: null, pciBusId: null, series: null };
    const cards = [unseenCard(3, nameless), unseenCard(4, nameless)];
    const nowhere = [unseenCard(5, { ...nameless, index: null }), unseenCard(6, { ...nameless, index: null })];
    const page = await render(watched([...cards, ...nowhere, unseenCard(7, { index: null })]));
    const unknown = [...seriesOf(page).keys()].filter((name) => /card_state.*state="unknown"/.test(name));
    expect(unknown.map((name) => name.replace(/.*\{(.*),state.*/, '$1'))).toEqual([
      'uuid="",index="3"',
      'uuid="",index="4"',
      'uuid="",index=""',
      'uuid="",index="#2"',
      'uuid="GPU-00000007",index=""',
    ]);
    expect((await promtool(page)).remarks).toBe('');
  });

  test('a name with quotes, backslashes, line ends and control characters cannot break the page', async () => {
    const page = await render(watched([card(0, { name: 'A "100"\\\n\u0007\u001B[31m card', series: 'ü' })]));
    expect(page).toContain('name="A \\"100\\"\\\\  card"');
    expect(page).toContain('series="ü"');
    expect((await promtool(page)).remarks).toBe('');
  });
});

describe('a fault of ours', () => {
  test('in the look leaves the page standing, with the probes failed, and is reported', async () => {
    const faults: unknown[] = [];
    const broken = { ...watched([card(0)]), occupancy: null } as unknown as Observation;
    const page = await render(broken, newMeter(), { onFault: (fault) => faults.push(fault) });
    expect(seriesOf(page).get('tuneplane_gpu_probe_success{probe="gpus"}')).toBe('0');
    expect(seriesOf(page).get('tuneplane_gpu_admissions_total{outcome="admitted"}')).toBe('0');
    expect(faults).toHaveLength(1);
  });

  test('in what prom-client tells of the process costs that part alone', async () => {
    const faults: unknown[] = [];
    const process = createProcessMetrics();
    Object.defineProperty(process, 'metrics', { value: () => Promise.reject(new Error('no /proc here')) });
    const page = await render(busyMachine(), newMeter(), { process, onFault: (fault) => faults.push(fault) });
    expect(seriesOf(page).get('tuneplane_gpu_cards{state="job_held"}')).toBe('1');
    expect(faults).toEqual([new Error('no /proc here')]);
  });
});

test('failed starts are shown for the cards that are known, 0 from the start', async () => {
  const meter = newMeter();
  meter.startFailed([cardUuid('GPU-00000001'), cardUuid('GPU-gone')]);
  meter.startFailed([cardUuid('GPU-00000001')]);
  const series = seriesOf(await render(watched([card(0), card(1)]), meter));
  const shown = [...series].filter(([name]) => name.includes('card_start_failures_total'));
  expect(shown.map(([, value]) => value)).toEqual(['0', '2']);
});

test('what happened since the last page of the same look is on the next one', async () => {
  const meter = newMeter();
  const onFault = (fault: unknown): void => {
    throw fault;
  };
  const pageOf = createExposition(meter, {
    holders: false,
    process: null,
    ruleFiles: () => [],
    cardsReserved: () => 0,
    onFault,
  });
  const look = watched([card(0)], { docker: 'unavailable' });
  const read = async (name: string) =>
    [...seriesOf(await pageOf(look, IDLE))].find(([series]) => series.includes(name));
  expect((await read('card_start_failures_total'))?.[1]).toBe('0');
  meter.startFailed([cardUuid('GPU-00000000')]);
  expect((await read('card_start_failures_total'))?.[1]).toBe('1');
  const lastSeen = 'probe_last_success_timestamp_seconds{probe="docker"}';
  expect(await read(lastSeen)).toBeUndefined();
  meter.looked(snapshot({}));
  expect((await read(lastSeen))?.[1]).toBe(String(snapshot().endedAtMs / 1000));
});

test('Xids are counted by card and code, on the page of a look that was shown before too', async () => {
  const meter = newMeter();
  const look = busyMachine();
  await render(look, meter);
  meter.xid(cardUuid('GPU-00000001'), 79);
  meter.xid(cardUuid('GPU-00000001'), 31);
  meter.xid(cardUuid('GPU-00000001'), 31);
  meter.xid(cardUuid('GPU-gone'), 48);
  const xids = [...seriesOf(await render(look, meter))].filter(([name]) => name.includes('xid_errors'));
  expect(xids).toEqual([
    ['tuneplane_gpu_card_xid_errors_total{uuid="GPU-00000001",index="1",code="79"}', '1'],
    ['tuneplane_gpu_card_xid_errors_total{uuid="GPU-00000001",index="1",code="31"}', '2'],
  ]);
});
