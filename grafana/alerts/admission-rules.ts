/** The rules about admissions and the lock. */

import { METRICS } from '../../src/metrics/names.js';
import type { Outcome } from '../../src/model/admission.js';
import { MACHINE, select } from './queries.js';
import type { Rule } from './rule.js';

/** Outcomes that the request did not cause. `draining` is left out: a gate that is shutting down should refuse. */
const OUR_FAULT: readonly Outcome[] = [
  'image_pull_failed',
  'create_failed',
  'start_failed',
  'docker_unavailable',
  'lock_unavailable',
  'busy',
  'internal',
];

/**
 * Seconds, and a bucket of the histogram: half the lease, and far above one look and a few creates. Prometheus 3 writes it
 * as `60.0`, earlier versions as the page has it.
 */
const LONG_HOLD = '60';

const holds = (suffix: string, ...matchers: readonly string[]): string =>
  `sum by (${MACHINE}) (increase(${select({ name: `${METRICS.lockHold.name}_${suffix}` }, ...matchers)}[15m]))`;

export const ADMISSION_RULES: readonly Rule[] = [
  {
    name: 'TuneplaneRunsWaiting',
    severity: 'warning',
    // No rule for a full machine: being full is its purpose.
    expr: `max by (${MACHINE}) (max_over_time(${METRICS.runsWaiting.name}[2m])) > 0`,
    for: '30m',
    summary: 'Runs wait on {instance} for half an hour',
    description:
      'For 30 minutes there was always a run that {instance} told to wait; {number} of them now. The machine may simply be full; or cards that should serve are unhealthy, unknown, excluded or used from outside.',
  },
  {
    name: 'TuneplaneAdmissionsFailing',
    severity: 'warning',
    expr: `sum by (${MACHINE}, outcome) (increase(${select(METRICS.admissions, `outcome=~"${OUR_FAULT.join('|')}"`)}[15m])) > 2.5`,
    for: '0s',
    summary: 'Admissions on {instance} fail: {outcome}',
    description:
      '{number} admissions on {instance} ended in {outcome} within 15 minutes, through no fault of the request.',
  },
  {
    name: 'TuneplaneLockLost',
    severity: 'warning',
    expr: `sum by (${MACHINE}) (increase(${METRICS.lockLost.name}[15m])) > 0`,
    for: '0s',
    summary: 'The gate on {instance} lost the lock while it held it',
    description:
      'The lease of {instance} ended or went to another while it was held. No card was given twice for that, but somebody restarts Redis, evicts its keys, or stalls this gate.',
  },
  {
    name: 'TuneplaneLockHeldLong',
    severity: 'warning',
    expr: `${holds('count')} - ${holds('bucket', `le=~"${LONG_HOLD}|${LONG_HOLD}[.]0"`)} > 0.5
or
max by (${MACHINE}) (${METRICS.lockHeld.name}) == 1`,
    for: '5m',
    summary: 'The gate on {instance} holds the lock for long',
    description: `The gate on {instance} holds the lock for minutes, or held it for more than ${LONG_HOLD} s at a time. Every other admission on this machine waits for it.`,
  },
];
