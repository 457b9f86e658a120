/** The shape of every answer of `/admit` and `/runs`, for the OpenAPI document and for the tests that check the answers. */

import { z } from 'zod';
import { WAIT_CODES } from '../model/admission.js';
import { CONTAINER_STATES } from '../model/snapshot.js';

const index = z.int().min(0);

const card = z.strictObject({ index: index.nullable(), uuid: z.string().nullable(), name: z.string().nullable() });

const placement = z
  .strictObject({
    islands: z.int().nullable(),
    slowest_link: z.string().nullable(),
    consecutive: z.boolean(),
    aligned: z.boolean(),
    reasons: z.array(z.string()),
  })
  .nullable();

const given = {
  run_id: z.string(),
  gpus: z.array(index),
  cards: z.array(card),
  placement,
  /** Present, and true, only where cards were counted as free although the probe was blind. */
  admitted_blind: z.literal(true).optional(),
  explain: z.string().optional(),
};

const run = z.strictObject({ name: z.string(), container_id: z.string(), state: z.enum(CONTAINER_STATES) });
const endedRun = run.extend({ exit_code: z.int().nullable() });

const waiting = {
  run_id: z.string(),
  requested: z.int(),
  free: z.int(),
  /** 1 is next; null for a run without a place, as in a dry run. */
  position: z.int().nullable(),
  waiting_seconds: z.int().nullable(),
  retry_after_seconds: z.int(),
  explain: z.string(),
  reasons: z.array(z.strictObject({ code: z.enum(WAIT_CODES), cards: z.array(index) })),
};

const dry = { dry_run: z.literal(true) };

export const admittedAnswer = z.strictObject({ decision: z.literal('admitted'), replayed: z.boolean(), ...given, run });
export const startingAnswer = z.strictObject({ decision: z.literal('starting'), ...given, run });
export const endedAnswer = z.strictObject({ decision: z.literal('ended'), ...given, run: endedRun });
export const waitAnswer = z.strictObject({ decision: z.literal('wait'), ...waiting });
export const wouldAdmitAnswer = z.strictObject({ ...dry, decision: z.literal('would_admit'), ...given });
export const wouldWaitAnswer = z.strictObject({ ...dry, decision: z.literal('would_wait'), ...waiting });
export const wouldReplayAnswer = z.strictObject({
  ...dry,
  decision: z.literal('would_replay'),
  ...given,
  run: endedRun,
});

/** Every body that a 200 of `/admit` can have. A dry run of a run that has ended says `would_replay`, with its state. */
export const okAnswer = z.discriminatedUnion('decision', [
  admittedAnswer,
  endedAnswer,
  waitAnswer,
  wouldAdmitAnswer,
  wouldWaitAnswer,
  wouldReplayAnswer,
]);

/** A run that waits for cards. */
export const placeShape = z.strictObject({
  run_id: z.string(),
  position: z.int().describe('1 is next.'),
  count: z.int(),
  principal: z.string(),
  image: z.string(),
  labels: z.record(z.string(), z.string()),
  since: z.string(),
  waiting_seconds: z.int(),
});

export const runShape = z.strictObject({
  run_id: z.string(),
  state: z.enum([...CONTAINER_STATES, 'start_failed', 'waiting']),
  position: z.int().nullable().describe('The place in line of a run that waits; 1 is next.'),
  principal: z.string().nullable().describe('Who started it.'),
  labels: z.record(z.string(), z.string()),
  image: z.string().nullable(),
  command: z.string().nullable().describe('For people: as one text.'),
  cards: z.array(z.strictObject({ index: index.nullable(), uuid: z.string().nullable() })),
  exit_code: z.int().nullable(),
  oom_killed: z.boolean().nullable(),
  error: z.string().nullable(),
  created_at: z.string().nullable(),
  started_at: z.string().nullable(),
  finished_at: z.string().nullable(),
});

export const runsShape = z.strictObject({ runs: z.array(runShape) });
