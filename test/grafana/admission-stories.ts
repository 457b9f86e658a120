import { held } from './gate-history.js';
import type { Firing } from './promtool.js';
import { RESTART, type Story } from './story.js';

const WAITING: Firing = {
  alert: 'TuneplaneRunsWaiting',
  summary: 'Runs wait on gpu-01:9841 for half an hour',
  description:
    'For 30 minutes there was always a run that gpu-01:9841 told to wait; 2 of them now. The machine may simply be full; or cards that should serve are unhealthy, unknown, excluded or used from outside.',
};

const failing = (outcome: string, times: number): Firing => ({
  alert: 'TuneplaneAdmissionsFailing',
  labels: { outcome },
  summary: `Admissions on gpu-01:9841 fail: ${outcome}`,
  description: `${times} admissions on gpu-01:9841 ended in ${outcome} within 15 minutes, through no fault of the request.`,
});

const LOST: Firing = {
  alert: 'TuneplaneLockLost',
  summary: 'The gate on gpu-01:9841 lost the lock while it held it',
  description:
    'The lease of gpu-01:9841 ended or went to another while it was held. No card was given twice for that, but somebody restarts Redis, evicts its keys, or stalls this gate.',
};

const HELD_LONG: Firing = {
  alert: 'TuneplaneLockHeldLong',
  summary: 'The gate on gpu-01:9841 holds the lock for long',
  description:
    'The gate on gpu-01:9841 holds the lock for minutes, or held it for more than 60 s at a time. Every other admission on this machine waits for it.',
};

const FULL = [held(0), held(1)];
const WAITING_RUNS = { line: { waiting: 2, oldestMs: 60_000 } } as const;

export const ADMISSION_STORIES: readonly Story[] = [
  {
    of: 'TuneplaneRunsWaiting',
    says: 'fires when somebody waits for half an hour, also over a restart',
    chapters: [
      { minutes: 5 },
      { minutes: 20, cards: FULL, status: WAITING_RUNS },
      RESTART,
      // The line is kept over a restart.
      { minutes: 20, restarted: true, cards: FULL, status: WAITING_RUNS },
    ],
    checks: [
      { at: 34, firing: [] },
      { at: 36, firing: [WAITING] },
      { at: 44, firing: [WAITING] },
    ],
  },
  {
    of: 'TuneplaneRunsWaiting',
    says: 'says nothing of a full machine on which nobody waits',
    chapters: [{ minutes: 45, cards: FULL }],
    checks: [{ at: 44, firing: [] }],
  },
  {
    of: 'TuneplaneAdmissionsFailing',
    says: 'fires for answers that are no fault of the request, an alert for each of them',
    chapters: [
      { minutes: 5, each: (meter) => meter.outcome('admitted', 1) },
      { minutes: 1, each: (meter) => meter.outcome('docker_unavailable', 1) },
      { minutes: 1, each: (meter) => meter.outcome('start_failed', 1) },
      { minutes: 25 },
    ],
    checks: [
      { at: 5, firing: [] },
      { at: 8, firing: [failing('docker_unavailable', 4), failing('start_failed', 4)] },
      { at: 30, firing: [] },
    ],
  },
  {
    of: 'TuneplaneAdmissionsFailing',
    says: 'says nothing of requests that are refused for what they ask, of waiting, and of a gate that drains',
    chapters: [
      { minutes: 5 },
      {
        minutes: 15,
        each: (meter) => {
          for (const outcome of ['wait', 'invalid_request', 'policy_denied', 'unsatisfiable', 'draining'] as const)
            meter.outcome(outcome, 0.1);
        },
      },
    ],
    checks: [{ at: 19, firing: [] }],
  },
  {
    of: 'TuneplaneLockLost',
    says: 'fires after one lease that was lost, for a quarter of an hour',
    chapters: [{ minutes: 5 }, { minutes: 20, once: (meter) => meter.lockLost() }],
    checks: [
      { at: 5, firing: [LOST] },
      { at: 15, firing: [LOST] },
      { at: 24, firing: [] },
    ],
  },
  {
    of: 'TuneplaneLockHeldLong',
    says: 'fires while the lock is held for minutes',
    chapters: [{ minutes: 5 }, { minutes: 10, status: { lockHeld: true } }, { minutes: 5 }],
    checks: [
      { at: 9, firing: [] },
      { at: 12, firing: [HELD_LONG] },
      { at: 18, firing: [] },
    ],
  },
  {
    of: 'TuneplaneLockHeldLong',
    says: 'fires after a lock that was held for more than a minute',
    chapters: [{ minutes: 5 }, { minutes: 20, once: (meter) => meter.lockHeldFor(90) }],
    checks: [
      { at: 9, firing: [] },
      { at: 12, firing: [HELD_LONG] },
      { at: 24, firing: [] },
    ],
  },
  {
    of: 'TuneplaneLockHeldLong',
    says: 'says nothing of a gate that takes the lock often and briefly',
    chapters: Array.from({ length: 30 }, (_, nth) => ({
      minutes: 0.5,
      status: { lockHeld: nth % 3 !== 0 },
      each: (meter) => meter.lockHeldFor(0.4),
    })),
    checks: [{ at: 14, firing: [] }],
  },
];
