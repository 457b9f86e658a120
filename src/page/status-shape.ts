/** The schema of `GET /status.json`, for the OpenAPI document and for the answer's own type. */

import { z } from 'zod';
import { placeShape } from '../admit/answer-shape.js';
import { cardsShape } from '../cards/card-shape.js';
import { PROBES } from '../model/snapshot.js';

const partShape = z.strictObject({ ok: z.boolean(), detail: z.string().nullable() });

const decisionShape = z.strictObject({
  at: z.string(),
  first_at: z.string(),
  times: z.int().describe('How often the same decision was repeated, from first_at to at.'),
  action: z.enum(['admit', 'delete', 'stop', 'exclude', 'include', 'forget']),
  principal: z.string(),
  run_id: z.string().nullable(),
  outcome: z.string().describe('The decision, or the code of the refusal.'),
  detail: z.string().nullable(),
  count: z.int().nullable(),
  cards: z.array(z.string()).describe('Uuids; an index where no uuid was known.'),
  took_ms: z.number(),
});

export const statusShape = z.strictObject({
  now: z.string().describe("The gate's clock."),
  machine: z.string().describe('Host name.'),
  version: z.string(),
  started_at: z.string(),
  ready: z.boolean().describe('As GET /readyz, judged from the look that the cards are from.'),
  parts: z.record(z.enum(['runtime', 'lock', 'probe', 'draining', 'files']), partShape),
  lock: z.strictObject({
    held: z.boolean().describe('By this gate.'),
    waiting: z.int(),
    redis_up: z.boolean().nullable().describe('Null without Redis.'),
    problem: z.string().nullable(),
  }),
  admissions_in_flight: z.int(),
  last_seen: z.record(z.enum(PROBES), z.string().nullable()).describe('When each probe last could see.'),
  line: z.array(placeShape).describe('Runs that wait for cards, longest wait first.'),
  cards: cardsShape,
  decisions: z
    .array(decisionShape)
    .describe('The last ones, newest first; repetitions are combined. No values of env.'),
});
