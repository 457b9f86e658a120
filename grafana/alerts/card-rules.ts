/** The rules about one card; each alert carries its `uuid`. */

import { METRICS } from '../../src/metrics/names.js';
import { badReasons, CARD, lastKnown, listed, MACHINE, recent, select } from './queries.js';
import type { Rule } from './rule.js';
import { NOT_MISSING } from './wording.js';

/** Shorter pauses are usual between two parts of a job. */
const IDLE_FOR_S = 3600;

const inState = (state: string): string => select(METRICS.cardState, `state="${state}"`);

export const CARD_RULES: readonly Rule[] = [
  {
    name: 'TuneplaneCardUnhealthy',
    severity: 'critical',
    expr: `count by (${CARD}) (\n${badReasons(NOT_MISSING)}\n)\nand ${listed()}`,
    for: '1m',
    summary: '{card} on {instance} is unhealthy: {reasons}',
    description:
      '{card} ({uuid}) on {instance} is unhealthy: {reasons}. It is not handed out; a job that holds it keeps running and may compute nonsense. This stays until the card was seen well again, also while nobody can see it.',
  },
  {
    name: 'TuneplaneCardMissing',
    severity: 'critical',
    expr: `${lastKnown(select(METRICS.cardUnhealthy, 'reason="missing"'), CARD)} == 1\nand ${listed()}`,
    for: '1m',
    summary: '{card} on {instance} is missing',
    description:
      '{card} ({uuid}) was part of {instance} and the driver does not list it any more. This stays until it is back, or until an operator tells the gate to forget it.',
  },
  {
    name: 'TuneplaneCardUnknown',
    severity: 'warning',
    // A blind probe makes every card unknown and has an alert of its own.
    expr: `max by (${CARD}) (${recent(inState('unknown'))}) == 1
unless on (${MACHINE})
min by (${MACHINE}) (${recent(select(METRICS.probeSuccess, 'probe=~"gpus|docker"'))}) == 0`,
    for: '10m',
    summary: '{card} on {instance} cannot be judged',
    description:
      'The probes of {instance} can see, but not whether {card} ({uuid}) is free: its row is cut, or its memory or the permission to read it is missing. It is not handed out.',
  },
  {
    name: 'TuneplaneCardClaimedTwice',
    severity: 'critical',
    expr: `max by (${CARD}) (${recent(METRICS.cardClaims.name)}) > 1`,
    for: '1m',
    summary: '{number} containers claim {card} on {instance}',
    description:
      '{number} live containers claim {card} ({uuid}) on {instance}: two jobs share it, slow each other down and may run out of memory.',
  },
  {
    name: 'TuneplaneCardHeldIdle',
    severity: 'warning',
    expr: `max by (${CARD}) (${recent(METRICS.cardHeldIdle.name)}) >= ${IDLE_FOR_S}`,
    for: '1m',
    summary: '{card} on {instance} is held and idle for an hour',
    description:
      'A job holds {card} ({uuid}) on {instance} for an hour without a process on it and without utilisation. Nobody else can have the card. The gate ends nothing by itself.',
  },
  {
    name: 'TuneplaneCardUsedFromOutside',
    severity: 'info',
    expr: `max by (${CARD}) (${recent(inState('external'))}) == 1`,
    for: '15m',
    summary: '{card} on {instance} is used from outside',
    description:
      'Something that the gate did not start uses {card} ({uuid}) on {instance} for 15 minutes. The card is not handed out meanwhile.',
  },
  {
    name: 'TuneplaneCardStartsFailing',
    severity: 'warning',
    expr: `sum by (${CARD}) (increase(${METRICS.cardStartFailures.name}[1h])) > 2.5`,
    for: '0s',
    summary: 'Starts on {card} on {instance} keep failing',
    description:
      '{number} starts on {card} ({uuid}) on {instance} failed within an hour. Where it is this card alone, the card or its driver is the likely cause; where it is all of them, the jobs or Docker.',
  },
];
