/** The rules about a whole machine: whether its gate is up, and whether it can see. */

import { METRICS } from '../../src/metrics/names.js';
import { MACHINE, recent } from './queries.js';
import { JOB, type Rule } from './rule.js';

const UP = `up{job="${JOB}"}`;
const PROBE = `${MACHINE}, probe`;

export const MACHINE_RULES: readonly Rule[] = [
  {
    name: 'TuneplaneGateDown',
    severity: 'critical',
    expr: `max by (${MACHINE}) (${UP}) == 0`,
    for: '2m',
    summary: 'The gate on {instance} is down',
    description:
      'Prometheus gets no metrics page from the gate on {instance}. Nothing is known of its cards and no job can be admitted there; what runs keeps running.',
  },
  {
    name: 'TuneplaneGateNotScraped',
    severity: 'warning',
    expr: `absent(${UP})`,
    for: '15m',
    summary: 'No gate is scraped at all',
    description: `Prometheus has no target of the job ${JOB}: the rules for gates that are down can never fire. The scrape job is gone, has another name, or its list of machines is empty.`,
  },
  {
    name: 'TuneplaneProbeFailing',
    severity: 'critical',
    // A probe that is switched off shows 0 as well (health) or nothing (processes), and does not count failures.
    expr: `avg by (${PROBE}) (avg_over_time(${METRICS.probeSuccess.name}[5m])) < 0.5
and on (${PROBE})
sum by (${PROBE}) (increase(${METRICS.probeFailures.name}[10m])) > 0`,
    for: '2m',
    summary: 'The probe {probe} on {instance} cannot see',
    description:
      'Most looks of the probe {probe} on {instance} failed in the last minutes. Without gpus or docker nothing is handed out there; without health the cards are not checked; without processes they are judged by their memory.',
  },
  {
    name: 'TuneplaneExternalProbeNotOk',
    severity: 'critical',
    expr: `avg by (${MACHINE}) (avg_over_time(${METRICS.externalProbeOk.name}[5m])) < 0.5`,
    for: '2m',
    summary: 'Use from outside cannot be seen on {instance}',
    description:
      'The memory of the cards on {instance} cannot be read, so nobody can tell whether something that the gate did not start uses them. Such cards are not handed out.',
  },
  {
    name: 'TuneplaneSnapshotOld',
    severity: 'critical',
    // A gate without any look exports no time of one.
    expr: `time() - max by (${MACHINE}) (${METRICS.snapshotTimestamp.name}) > 120
or
(
  max by (${MACHINE}) (${UP}) == 1
  unless on (${MACHINE})
  max by (${MACHINE}) (${METRICS.snapshotTimestamp.name})
)`,
    for: '3m',
    summary: 'The gate on {instance} shows no recent look',
    description:
      'The gate on {instance} answers, but its page has no look at the cards of the last two minutes. It is stuck, or the clocks of the machine and of Prometheus disagree.',
  },
  {
    name: 'TuneplaneProbeSlow',
    severity: 'warning',
    expr: `avg by (${PROBE}) (avg_over_time(${METRICS.probeDuration.name}[10m])) > 5`,
    for: '5m',
    summary: 'The probe {probe} on {instance} is slow',
    description:
      'The probe {probe} on {instance} takes {seconds} on average. At TUNEPLANE_PROBE_TIMEOUT_S (10 s unless set) it is given up and the gate is blind.',
  },
  {
    name: 'TuneplaneRedisDown',
    severity: 'critical',
    expr: `max by (${MACHINE}) (${recent(METRICS.redisUp.name)}) == 0`,
    for: '2m',
    summary: 'The gate on {instance} cannot reach Redis',
    description:
      'The lock of {instance} is in Redis, which does not answer. No job is admitted there; what runs keeps running.',
  },
  {
    name: 'TuneplaneRuleFileNotInForce',
    severity: 'critical',
    expr: `max by (${MACHINE}, file) (${recent(METRICS.configReloadSuccess.name)}) == 0`,
    for: '1m',
    summary: 'The {file} file on {instance} is not in force',
    description:
      'The {file} file of the gate on {instance} cannot be used as it is written. Of a policy or a web config the last good one stays in force; of tokens only the lines that can be read count, and a file that is gone or that others could write lets nobody in.',
  },
];
