import { cardIndex, HEALTH_REASONS, type HealthReason } from '../../src/model/card.js';
import type { JudgedCard } from '../../src/model/occupancy.js';
import { card, claim, unseenCard } from '../metrics/occupancies.js';
import { HEALTHY, held, type Chapter } from './gate-history.js';
import type { Firing } from './promtool.js';
import { RESTART, type Story } from './story.js';

const ZERO = 'NVIDIA H100 80GB HBM3 at 00000000:0B:00.0 (card 0)';
const ONE = 'NVIDIA H100 80GB HBM3 at 00000000:1B:00.0 (card 1)';

const unhealthy = (reasons: string, name = ONE): Firing => ({
  alert: 'TuneplaneCardUnhealthy',
  labels: { uuid: 'GPU-00000001' },
  summary: `${name} on gpu-01:9841 is unhealthy: ${reasons}`,
  description: `${name} (GPU-00000001) on gpu-01:9841 is unhealthy: ${reasons}. It is not handed out; a job that holds it keeps running and may compute nonsense. This stays until the card was seen well again, also while nobody can see it.`,
});

const missing = (name: string): Firing => ({
  alert: 'TuneplaneCardMissing',
  labels: { uuid: 'GPU-00000001' },
  summary: `${name} on gpu-01:9841 is missing`,
  description: `${name} (GPU-00000001) was part of gpu-01:9841 and the driver does not list it any more. This stays until it is back, or until an operator tells the gate to forget it.`,
});

const UNKNOWN: Firing = {
  alert: 'TuneplaneCardUnknown',
  labels: { uuid: 'GPU-00000000' },
  summary: `${ZERO} on gpu-01:9841 cannot be judged`,
  description: `The probes of gpu-01:9841 can see, but not whether ${ZERO} (GPU-00000000) is free: its row is cut, or its memory or the permission to read it is missing. It is not handed out.`,
};

const TWICE: Firing = {
  alert: 'TuneplaneCardClaimedTwice',
  labels: { uuid: 'GPU-00000001' },
  summary: `2 containers claim ${ONE} on gpu-01:9841`,
  description: `2 live containers claim ${ONE} (GPU-00000001) on gpu-01:9841: two jobs share it, slow each other down and may run out of memory.`,
};

const IDLE: Firing = {
  alert: 'TuneplaneCardHeldIdle',
  labels: { uuid: 'GPU-00000001' },
  summary: `${ONE} on gpu-01:9841 is held and idle for an hour`,
  description: `A job holds ${ONE} (GPU-00000001) on gpu-01:9841 for an hour without a process on it and without utilisation. Nobody else can have the card. The gate ends nothing by itself.`,
};

const OUTSIDE: Firing = {
  alert: 'TuneplaneCardUsedFromOutside',
  labels: { uuid: 'GPU-00000000' },
  summary: `${ZERO} on gpu-01:9841 is used from outside`,
  description: `Something that the gate did not start uses ${ZERO} (GPU-00000000) on gpu-01:9841 for 15 minutes. The card is not handed out meanwhile.`,
};

const STARTS: Firing = {
  alert: 'TuneplaneCardStartsFailing',
  labels: { uuid: 'GPU-00000000' },
  summary: `Starts on ${ZERO} on gpu-01:9841 keep failing`,
  description: `3 starts on ${ZERO} (GPU-00000000) on gpu-01:9841 failed within an hour. Where it is this card alone, the card or its driver is the likely cause; where it is all of them, the jobs or Docker.`,
};

/** The health of a card with exactly these findings. */
function ill(...reasons: readonly HealthReason[]): Pick<JudgedCard, 'health'> {
  return { health: Object.fromEntries(HEALTH_REASONS.map((reason) => [reason, reasons.includes(reason)])) };
}

const ALL_BLIND = { gpus: 'timeout', processes: 'timeout', health: 'timeout' } as const;
const blind = (minutes: number): Chapter => ({
  minutes,
  fared: ALL_BLIND,
  cards: [unseenCard(0), unseenCard(1, { state: 'job_held', claims: [claim('train-17')] })],
});
const BLIND_TOO = ['gpus', 'processes', 'health']
  .map(() => 'TuneplaneProbeFailing')
  .concat('TuneplaneExternalProbeNotOk');

const ecc: Chapter = { minutes: 10, cards: [card(0), held(1, ill('ecc_uncorrected'))] };
const gone: Chapter = {
  minutes: 10,
  cards: [card(0), unseenCard(1, { index: null, state: 'unhealthy', health: { missing: true } })],
};
const outside: Chapter = { minutes: 18, cards: [card(0, { state: 'external', processes: 1 }), held(1)] };
const idle = (minutes: number, heldIdleSeconds: number | null): Chapter => ({
  minutes,
  cards: [card(0), held(1, { processes: 0, heldIdleSeconds })],
});

export const CARD_STORIES: readonly Story[] = [
  {
    of: 'TuneplaneCardUnhealthy',
    says: 'is one alert for a held card, over other reasons, a new index, another holder, blindness and restarts, until it is mended',
    chapters: [
      { minutes: 10 },
      ecc,
      {
        minutes: 10,
        cards: [
          card(0, { index: cardIndex(1) }),
          held(1, { index: cardIndex(0), claims: [claim('other')], ...ill('ecc_uncorrected', 'hw_slowdown') }),
        ],
      },
      blind(20),
      RESTART,
      { ...blind(9.25), restarted: true },
      { minutes: 20, gate: 'down' },
      ecc,
      { minutes: 10 },
    ],
    checks: [
      { at: 10, firing: [] },
      { at: 12, firing: [unhealthy('ecc_uncorrected')] },
      { at: 25, firing: [unhealthy('ecc_uncorrected, hw_slowdown', ONE.replace('card 1', 'card 0'))] },
      { at: 31, firing: [unhealthy('ecc_uncorrected, hw_slowdown')] },
      { at: 49, firing: [unhealthy('ecc_uncorrected, hw_slowdown')], besides: BLIND_TOO },
      { at: 50.5, firing: [unhealthy('ecc_uncorrected, hw_slowdown')], besides: BLIND_TOO },
      { at: 59, firing: [unhealthy('ecc_uncorrected, hw_slowdown')], besides: BLIND_TOO },
      { at: 79, firing: [unhealthy('ecc_uncorrected, hw_slowdown')], besides: ['TuneplaneGateDown'] },
      { at: 89, firing: [unhealthy('ecc_uncorrected')] },
      { at: 91, firing: [] },
    ],
  },
  {
    of: 'TuneplaneCardUnhealthy',
    says: 'is remembered when the driver stops to answer right after it',
    chapters: [{ minutes: 12 }, { ...ecc, minutes: 1.75 }, { ...blind(20) }],
    checks: [
      { at: 15.5, firing: [unhealthy('ecc_uncorrected')] },
      { at: 33, firing: [unhealthy('ecc_uncorrected')], besides: BLIND_TOO },
    ],
  },
  {
    of: 'TuneplaneCardUnhealthy',
    says: 'stays while the health probe alone is blind',
    chapters: [
      { minutes: 5 },
      ecc,
      {
        minutes: 20,
        fared: { health: 'exit' },
        cards: [card(0), held(1, { health: { driver_error: false, missing: false } })],
      },
    ],
    checks: [{ at: 33, firing: [unhealthy('ecc_uncorrected')], besides: ['TuneplaneProbeFailing'] }],
  },
  {
    of: 'TuneplaneCardUnhealthy',
    says: 'ends when another card is in its place',
    chapters: [{ minutes: 5 }, ecc, RESTART, { minutes: 5, restarted: true, cards: [card(0), card(2)] }],
    checks: [
      { at: 14, firing: [unhealthy('ecc_uncorrected')] },
      { at: 17, firing: [] },
    ],
  },
  {
    of: 'TuneplaneCardMissing',
    says: 'stays over blindness and a restart of the gate, and ends when the card is back',
    chapters: [{ minutes: 5 }, gone, blind(10), RESTART, { ...gone, restarted: true }, { minutes: 5 }],
    checks: [
      { at: 5, firing: [] },
      { at: 14, firing: [missing(ONE.replace(' (card 1)', ''))] },
      { at: 18, firing: [missing(ONE)] },
      { at: 25.5, firing: [missing(ONE)], besides: BLIND_TOO },
      { at: 35, firing: [missing(ONE.replace(' (card 1)', ''))] },
      { at: 39, firing: [] },
    ],
  },
  {
    of: 'TuneplaneCardMissing',
    says: 'ends when an operator tells the gate to forget the card',
    chapters: [{ minutes: 5 }, gone, { minutes: 5, cards: [card(0)] }],
    checks: [
      { at: 14, firing: [missing(ONE.replace(' (card 1)', ''))] },
      { at: 17, firing: [] },
    ],
  },
  {
    of: 'TuneplaneCardUnknown',
    says: 'fires for a card that the driver shows and nobody can judge, and stays over a restart',
    chapters: [
      { minutes: 5 },
      ...[{ minutes: 13 }, RESTART, { minutes: 5, restarted: true }].map((chapter) => ({
        ...chapter,
        cards: [card(0, { state: 'unknown', unknownBecause: 'memory', memoryUsedBytes: null }), held(1)],
      })),
    ],
    checks: [
      { at: 14, firing: [] },
      { at: 17, firing: [UNKNOWN] },
      { at: 18.5, firing: [UNKNOWN] },
      { at: 22, firing: [UNKNOWN] },
    ],
  },
  {
    of: 'TuneplaneCardUnknown',
    says: 'leaves it to the probe to say that it is blind',
    chapters: [{ minutes: 5 }, blind(20)],
    checks: [{ at: 24, firing: [], besides: BLIND_TOO }],
  },
  {
    of: 'TuneplaneCardClaimedTwice',
    says: 'fires when two live containers hold the same card, and not for a race that is over at once',
    chapters: [
      { minutes: 5 },
      ...[0.25, 5, 6].flatMap((minutes) => [
        { minutes, cards: [card(0), held(1, { claims: [claim('train-17'), claim('train-18')] })] },
        { minutes: minutes < 1 ? 5 : 0 },
      ]),
      { minutes: 5 },
    ],
    checks: [
      { at: 6, firing: [] },
      { at: 9, firing: [] },
      { at: 14, firing: [TWICE] },
      { at: 25, firing: [] },
    ],
  },
  {
    of: 'TuneplaneCardUnhealthy',
    says: 'names an Xid of the kernel log as the reason, until an operator takes the card back',
    chapters: [{ minutes: 5 }, { minutes: 10, cards: [card(0), held(1, ill('xid'))] }, { minutes: 5 }],
    checks: [
      { at: 4, firing: [] },
      { at: 8, firing: [unhealthy('xid')] },
      { at: 19, firing: [] },
    ],
  },
  {
    of: 'TuneplaneCardHeldIdle',
    says: 'fires once the gate has seen no use for an hour, also while a look tells nothing, and ends when the job uses the card',
    chapters: [{ minutes: 5 }, idle(30, 3599), idle(5, 3600), idle(1, null), { minutes: 10 }],
    checks: [
      { at: 34, firing: [] },
      { at: 38, firing: [IDLE] },
      { at: 40.5, firing: [IDLE] },
      { at: 50, firing: [] },
    ],
  },
  {
    of: 'TuneplaneCardHeldIdle',
    says: 'says nothing where the driver does not tell the utilisation',
    chapters: [
      {
        minutes: 75,
        cards: [held(0, { processes: 0, utilization: null }), held(1, { processes: 0, utilization: null })],
      },
    ],
    checks: [{ at: 74, firing: [] }],
  },
  {
    of: 'TuneplaneCardUsedFromOutside',
    says: 'fires after a quarter of an hour, stays over a restart, and ends with the use',
    chapters: [{ minutes: 5 }, outside, RESTART, { ...outside, minutes: 4.25, restarted: true }, { minutes: 7 }],
    checks: [
      { at: 19, firing: [] },
      { at: 22, firing: [OUTSIDE] },
      { at: 23.5, firing: [OUTSIDE] },
      { at: 27, firing: [OUTSIDE] },
      { at: 34, firing: [] },
    ],
  },
  {
    of: 'TuneplaneCardStartsFailing',
    says: 'fires for the card on which three starts failed within an hour',
    chapters: [{ minutes: 5 }, ...[1, 2, 3].map(() => ({ minutes: 5, once: failedStart }))],
    checks: [
      { at: 14, firing: [] },
      { at: 18, firing: [STARTS] },
    ],
  },
];

function failedStart(meter: Parameters<NonNullable<Chapter['once']>>[0]): void {
  meter.startFailed(HEALTHY.slice(0, 1).flatMap(({ uuid }) => uuid ?? []));
}
