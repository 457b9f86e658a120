import { card, unseenCard, watched, type Fared } from '../metrics/occupancies.js';
import type { Chapter } from './gate-history.js';
import type { Firing } from './promtool.js';
import { RESTART, type Story } from './story.js';

const DOWN: Firing = {
  alert: 'TuneplaneGateDown',
  summary: 'The gate on gpu-01:9841 is down',
  description:
    'Prometheus gets no metrics page from the gate on gpu-01:9841. Nothing is known of its cards and no job can be admitted there; what runs keeps running.',
};

const probeFailing = (probe: string): Firing => ({
  alert: 'TuneplaneProbeFailing',
  labels: { probe },
  summary: `The probe ${probe} on gpu-01:9841 cannot see`,
  description: `Most looks of the probe ${probe} on gpu-01:9841 failed in the last minutes. Without gpus or docker nothing is handed out there; without health the cards are not checked; without processes they are judged by their memory.`,
});

const EXTERNAL: Firing = {
  alert: 'TuneplaneExternalProbeNotOk',
  summary: 'Use from outside cannot be seen on gpu-01:9841',
  description:
    'The memory of the cards on gpu-01:9841 cannot be read, so nobody can tell whether something that the gate did not start uses them. Such cards are not handed out.',
};

const OLD: Firing = {
  alert: 'TuneplaneSnapshotOld',
  summary: 'The gate on gpu-01:9841 shows no recent look',
  description:
    'The gate on gpu-01:9841 answers, but its page has no look at the cards of the last two minutes. It is stuck, or the clocks of the machine and of Prometheus disagree.',
};

const slow = (probe: string): Firing => ({
  alert: 'TuneplaneProbeSlow',
  labels: { probe },
  summary: `The probe ${probe} on gpu-01:9841 is slow`,
  description: `The probe ${probe} on gpu-01:9841 takes 7.5 s on average. At TUNEPLANE_PROBE_TIMEOUT_S (10 s unless set) it is given up and the gate is blind.`,
});

const REDIS: Firing = {
  alert: 'TuneplaneRedisDown',
  summary: 'The gate on gpu-01:9841 cannot reach Redis',
  description:
    'The lock of gpu-01:9841 is in Redis, which does not answer. No job is admitted there; what runs keeps running.',
};

const FILE: Firing = {
  alert: 'TuneplaneRuleFileNotInForce',
  labels: { file: 'policy' },
  summary: 'The policy file on gpu-01:9841 is not in force',
  description:
    'The policy file of the gate on gpu-01:9841 cannot be used as it is written. Of a policy or a web config the last good one stays in force; of tokens only the lines that can be read count, and a file that is gone or that others could write lets nobody in.',
};

const DOCKER_DOWN: Chapter = {
  minutes: 10,
  fared: { docker: 'unavailable' },
  cards: [card(0, { state: 'unknown', unknownBecause: 'docker' })],
};

/** Every fourth look succeeds. */
const flaky = (minutes: number): Chapter[] =>
  Array.from({ length: minutes }, () => [
    { ...DOCKER_DOWN, minutes: 0.75 },
    { ...DOCKER_DOWN, fared: {}, minutes: 0.25 },
  ]).flat();

const off = (probe: 'health' | 'processes'): Record<string, Fared> => ({ [probe]: 'off' });

export const MACHINE_STORIES: readonly Story[] = [
  {
    of: 'TuneplaneGateDown',
    says: 'fires once for a gate that is down for half an hour, and nothing else does; it ends when the gate is back',
    chapters: [{ minutes: 5 }, { minutes: 30, gate: 'down' }, { minutes: 5, restarted: true }],
    checks: [
      { at: 6.5, firing: [] },
      { at: 8, firing: [DOWN] },
      { at: 34, firing: [DOWN] },
      { at: 36, firing: [] },
    ],
  },
  {
    of: 'TuneplaneGateNotScraped',
    says: 'fires when Prometheus has no gate to scrape any more',
    chapters: [{ minutes: 5 }, { minutes: 25, gate: 'unscraped' }],
    checks: [
      { at: 15, firing: [] },
      {
        at: 25,
        firing: [
          {
            alert: 'TuneplaneGateNotScraped',
            summary: 'No gate is scraped at all',
            description:
              'Prometheus has no target of the job tuneplane-gpu-gate: the rules for gates that are down can never fire. The scrape job is gone, has another name, or its list of machines is empty.',
          },
        ],
      },
    ],
  },
  {
    of: 'TuneplaneProbeFailing',
    says: 'names the probe that cannot see, stays over a restart and ends when it sees again',
    chapters: [{ minutes: 10 }, DOCKER_DOWN, RESTART, { ...DOCKER_DOWN, restarted: true }, { minutes: 10 }],
    checks: [
      { at: 11, firing: [] },
      { at: 16, firing: [probeFailing('docker')] },
      { at: 20.5, firing: [probeFailing('docker')] },
      { at: 25, firing: [probeFailing('docker')] },
      { at: 35, firing: [] },
    ],
  },
  {
    of: 'TuneplaneProbeFailing',
    says: 'fires for a probe that sees now and then',
    chapters: [{ minutes: 5 }, ...flaky(15)],
    checks: [{ at: 15, firing: [probeFailing('docker')] }],
  },
  {
    of: 'TuneplaneProbeFailing',
    says: 'says nothing of health checks that the operator switched off',
    chapters: [{ minutes: 20, fared: off('health') }],
    checks: [{ at: 19, firing: [] }],
  },
  {
    of: 'TuneplaneProbeFailing',
    says: 'says nothing of a process list that the operator switched off',
    chapters: [{ minutes: 20, fared: off('processes') }],
    checks: [{ at: 19, firing: [] }],
  },
  {
    of: 'TuneplaneExternalProbeNotOk',
    says: 'fires when the memory of no card can be read',
    chapters: [
      { minutes: 5 },
      { minutes: 15, but: { externalProbeOk: false }, cards: [unseenCard(0, { unknownBecause: 'memory' })] },
    ],
    checks: [
      { at: 6, firing: [] },
      { at: 11, firing: [EXTERNAL] },
      { at: 19, firing: [EXTERNAL], besides: ['TuneplaneCardUnknown'] },
    ],
  },
  {
    of: 'TuneplaneSnapshotOld',
    says: 'fires when the page goes on showing the same look',
    chapters: [{ minutes: 5 }, { minutes: 10, frozen: true }],
    checks: [
      { at: 8, firing: [] },
      { at: 12, firing: [OLD] },
    ],
  },
  {
    of: 'TuneplaneSnapshotOld',
    says: 'fires when the gate answers and has no look at all',
    chapters: [{ minutes: 5 }, { minutes: 10, lookless: true }],
    checks: [
      { at: 7, firing: [] },
      { at: 12, firing: [OLD], besides: ['TuneplaneExternalProbeNotOk'] },
    ],
  },
  {
    of: 'TuneplaneProbeSlow',
    says: 'names the probe that takes long',
    chapters: [{ minutes: 5 }, { minutes: 20, but: { probes: slowProbes(7500) } }],
    checks: [
      { at: 10, firing: [] },
      { at: 23, firing: [slow('gpus')] },
    ],
  },
  {
    of: 'TuneplaneRedisDown',
    says: 'fires when Redis does not answer and ends when it does',
    chapters: [
      { minutes: 5, status: { redisUp: true } },
      { minutes: 5, status: { redisUp: false } },
      { minutes: 5, status: { redisUp: true } },
    ],
    checks: [
      { at: 6, firing: [] },
      { at: 8, firing: [REDIS] },
      { at: 12, firing: [] },
    ],
  },
  {
    of: 'TuneplaneRuleFileNotInForce',
    says: 'fires while a policy cannot be used and ends when it is mended',
    chapters: [{ minutes: 5 }, { minutes: 5, ruleFiles: { policy: 'as_before' } }, { minutes: 5 }],
    checks: [
      { at: 5, firing: [] },
      { at: 8, firing: [FILE] },
      { at: 12, firing: [] },
    ],
  },
  {
    of: 'TuneplaneRuleFileNotInForce',
    says: 'fires where tokens let nobody in, and where some of their lines count for nothing',
    chapters: [
      { minutes: 5, ruleFiles: { tokens: 'nothing' } },
      { minutes: 5, ruleFiles: { tokens: 'in_part' } },
    ],
    checks: [
      { at: 3, firing: [], besides: ['TuneplaneRuleFileNotInForce'] },
      { at: 8, firing: [], besides: ['TuneplaneRuleFileNotInForce'] },
    ],
  },
];

function slowProbes(gpusTookMs: number) {
  const { probes } = watched([]).occupancy;
  return { ...probes, gpus: { ...probes.gpus, tookMs: gpusTookMs } };
}
