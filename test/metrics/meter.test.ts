import { describe, expect, test } from 'vitest';
import { createMeter } from '../../src/metrics/meter.js';
import { OUTCOMES, PHASES } from '../../src/model/admission.js';
import { BLIND_REASONS, PROBES } from '../../src/model/snapshot.js';
import { LOOK_AT_MS, snapshot } from './occupancies.js';
import { seriesOf } from './page.js';

const pageOf = async (meter: ReturnType<typeof createMeter>): Promise<Map<string, string>> =>
  seriesOf(await meter.registry.metrics());

describe('from the start', () => {
  test('every value of every label is there, at 0', async () => {
    const series = await pageOf(createMeter());
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
  const meter = createMeter({ version: '1.2.3', revision: 'abc' });
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

test('card-seconds add up by principal, from 0 on, and a forgotten one begins anew', async () => {
  const meter = createMeter();
  const held = async (added: [string, number][], ...forgotten: string[]): Promise<Record<string, string>> => {
    meter.held({ added: new Map(added), forgotten });
    const all = [...(await pageOf(meter))].filter(([name]) => name.startsWith('tuneplane_gpu_held_card_seconds_total'));
    return Object.fromEntries(all.map(([name, value]) => [/principal="(.*)"/.exec(name)?.[1], value]));
  };
  expect(await held([['ann', 0]])).toEqual({ ann: '0' });
  expect(
    await held([
      ['ann', 1.5],
      ['kim', 20],
    ]),
  ).toEqual({ ann: '1.5', kim: '20' });
  expect(
    await held(
      [
        ['ann', 2],
        ['lee', 0],
      ],
      'kim',
    ),
  ).toEqual({ ann: '3.5', lee: '0' });
});

test('a look counts the failures of its probes and dates their successes; one that is off does neither', async () => {
  const meter = createMeter();
  meter.looked(snapshot({ health: 'off' }));
  meter.looked(snapshot({ gpus: 'timeout', health: 'off' }, LOOK_AT_MS + 5000));
  expect(PROBES.map((probe) => meter.lastSuccessMs(probe))).toEqual([
    LOOK_AT_MS + 100,
    LOOK_AT_MS + 5100,
    null,
    LOOK_AT_MS + 5100,
    null,
  ]);
  const failures = [...(await pageOf(meter))].filter(
    ([name, value]) => name.includes('probe_failures') && value !== '0',
  );
  expect(failures).toEqual([['tuneplane_gpu_probe_failures_total{probe="gpus",reason="timeout"}', '1']]);
});
