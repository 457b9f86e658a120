import { describe, expect, test } from 'vitest';
import { createMeter } from '../../src/metrics/meter.js';
import { createWaiting } from '../../src/metrics/waiting.js';
import { OUTCOMES, PHASES } from '../../src/model/admission.js';
import { BLIND_REASONS, PROBES } from '../../src/model/snapshot.js';
import { handClock, LOOK_AT_MS, snapshot } from './occupancies.js';
import { seriesOf } from './page.js';

const pageOf = async (meter: ReturnType<typeof createMeter>): Promise<Map<string, string>> =>
  seriesOf(await meter.registry.metrics());

describe('from the start', () => {
  test('every value of every label is there, at 0', async () => {
    const series = await pageOf(createMeter(handClock()));
    for (const outcome of OUTCOMES)
      expect(series.get(`tuneplane_gpu_admissions_total{outcome="${outcome}"}`)).toBe('0');
    for (const phase of PHASES) {
      expect(series.get(`tuneplane_gpu_admission_phase_duration_seconds_count{phase="${phase}"}`)).toBe('0');
    }
    for (const probe of PROBES) {
      for (const reason of BLIND_REASONS) {
        expect(series.get(`tuneplane_gpu_probe_failures_total{probe="${probe}",reason="${reason}"}`)).toBe('0');
      }
    }
    expect(series.get('tuneplane_gpu_admission_duration_seconds_count')).toBe('0');
  });
});

test('each thing that happens is counted where it belongs', async () => {
  const meter = createMeter(handClock(), { version: '1.2.3', revision: 'abc' });
  meter.outcome('admitted', 0.2);
  meter.outcome('busy', 31);
  meter.phase('pull', 90);
  meter.lockHeldFor(0.3);
  meter.lockLost();
  meter.claimRace();
  meter.claimRace();
  meter.leftOverRemoved();
  meter.granted(2);
  meter.granted(8);
  const series = await pageOf(meter);
  expect(Object.fromEntries([...series].filter(([name, value]) => value !== '0' && !name.includes('_bucket')))).toEqual(
    {
      'tuneplane_gpu_admissions_total{outcome="admitted"}': '1',
      'tuneplane_gpu_admissions_total{outcome="busy"}': '1',
      tuneplane_gpu_admission_duration_seconds_sum: '31.2',
      tuneplane_gpu_admission_duration_seconds_count: '2',
      'tuneplane_gpu_admission_phase_duration_seconds_sum{phase="pull"}': '90',
      'tuneplane_gpu_admission_phase_duration_seconds_count{phase="pull"}': '1',
      tuneplane_gpu_lock_hold_seconds_sum: '0.3',
      tuneplane_gpu_lock_hold_seconds_count: '1',
      tuneplane_gpu_lock_lost_total: '1',
      tuneplane_gpu_claim_races_total: '2',
      tuneplane_gpu_left_over_claims_removed_total: '1',
      tuneplane_gpu_cards_granted_total: '10',
      'tuneplane_gpu_build_info{version="1.2.3",revision="abc"}': '1',
    },
  );
});

test('a look counts the failures of its probes and dates their successes; one that is off does neither', async () => {
  const meter = createMeter(handClock());
  meter.looked(snapshot({ health: 'off' }));
  meter.looked(snapshot({ gpus: 'timeout', health: 'off' }, LOOK_AT_MS + 5000));
  expect(PROBES.map((probe) => meter.lastSuccessMs(probe))).toEqual([
    LOOK_AT_MS + 100,
    LOOK_AT_MS + 5100,
    null,
    LOOK_AT_MS + 5100,
  ]);
  const failures = [...(await pageOf(meter))].filter(
    ([name, value]) => name.includes('probe_failures') && value !== '0',
  );
  expect(failures).toEqual([['tuneplane_gpu_probe_failures_total{probe="gpus",reason="timeout"}', '1']]);
});

describe('a run waits', () => {
  test('for 30 s after it was last told so, or until it is admitted', () => {
    const clock = handClock();
    const meter = createMeter(clock);
    meter.toldToWait('a');
    meter.toldToWait('b');
    meter.toldToWait('a');
    expect(meter.runsWaiting()).toBe(2);
    clock.forward(20_000);
    meter.toldToWait('a');
    meter.noLongerWaiting('c');
    clock.forward(9_999);
    expect(meter.runsWaiting()).toBe(2);
    clock.forward(1);
    expect(meter.runsWaiting()).toBe(1);
    meter.noLongerWaiting('a');
    expect(meter.runsWaiting()).toBe(0);
  });

  test('and is forgotten without being asked for, so that a flood of run ids takes no memory for long', () => {
    const waiting = createWaiting(1000, 50);
    for (let each = 0; each < 1000; each += 1) waiting.told(`run-${each}`, 0);
    expect(waiting.count(0)).toBe(50);
    expect(waiting.count(1000)).toBe(0);
  });
});
