/** The schema of `GET /cards`, for the OpenAPI document and for the answer's own types. */

import { z } from 'zod';
import { strictObject } from '../http/strict-object.js';
import { CARD_STATES, HEALTH_REASONS, WARNING_REASONS } from '../model/card.js';
import { UNKNOWN_REASONS } from '../model/occupancy.js';
import { BLIND_REASONS, CONTAINER_STATES, PROBES } from '../model/snapshot.js';

const heldBy = z.strictObject({
  run_id: z.string().describe("The container's name where it carries no run id."),
  container: z.string(),
  container_id: z.string(),
  state: z.enum(CONTAINER_STATES),
  since: z.string(),
  principal: z.string().nullable(),
  labels: z.record(z.string(), z.string()),
  image: z.string().nullable(),
  command: z.string().nullable().describe('For people: as one text.'),
});

const external = z.strictObject({
  processes: z.array(z.strictObject({ pid: z.int(), name: z.string(), memory_mib: z.number().nullable() })),
  memory_mib: z.number().nullable(),
  containers: z.array(z.string()),
});

export const cardShape = z.strictObject({
  index: z.int().nullable(),
  uuid: z.string().nullable(),
  name: z.string().nullable(),
  pci_bus_id: z.string().nullable(),
  state: z.enum(CARD_STATES),
  claims: z.int().describe('Live claims; more than one is a double booking.'),
  held_by: heldBy.nullable(),
  excluded: z
    .strictObject({
      by: z.enum(['operator', 'settings', 'mig', 'compute_mode', 'count']),
      reason: z.string(),
      since: z.string().nullable(),
      principal: z.string().nullable().describe('Who said so; null where it is not by an operator.'),
      until: z.string().nullable().describe('When it ends by itself, by the clock of the gate; null: not by itself.'),
    })
    .nullable(),
  external: external.nullable(),
  unhealthy: z.array(z.strictObject({ reason: z.enum(HEALTH_REASONS), detail: z.string() })),
  warnings: z.array(z.strictObject({ reason: z.enum(WARNING_REASONS), detail: z.string() })),
  failed_starts: z
    .int()
    .describe(
      'Starts that failed here within the last hour, where none has succeeded since; such a card is picked last.',
    ),
  unknown_because: z.enum(UNKNOWN_REASONS).nullable(),
  reserved_for: z.string().nullable().describe('The run in line that this free card is kept for.'),
  memory_used_bytes: z.number().nullable(),
  memory_size_bytes: z.number().nullable(),
  utilization_ratio: z.number().nullable().describe('0 to 1.'),
  temperature_celsius: z.number().nullable(),
  power_watts: z.number().nullable(),
  held_idle_seconds: z
    .number()
    .nullable()
    .describe('For how long a held card has had neither a process nor utilisation; null where it is not held.'),
});

export const probeShape = z.strictObject({
  ok: z.boolean().nullable().describe('Null for a probe that a setting switched off.'),
  took_ms: z.number().nullable().optional(),
  age_seconds: z.number().optional(),
  why: z.enum(BLIND_REASONS).nullable().optional(),
  detail: z.string().nullable().optional(),
});

export const cardsShape = z.strictObject({
  observed_at: z.string(),
  external_probe_ok: z.boolean(),
  series: z.string().nullable(),
  explain: z.string(),
  notes: z.array(z.string()),
  counts: z.record(z.enum(CARD_STATES), z.int()),
  probes: z.record(z.enum(PROBES), probeShape),
  cards: z.array(cardShape),
});

const A_TIME = 'expected a time as in RFC 3339, with a zone, like 2026-12-01T18:00:00Z';

/** The body of `POST /cards/{uuid}/exclude`. */
export const excludeRequest = strictObject({
  reason: z
    .string('expected a reason of 1 to 500 characters')
    .max(500, { error: 'expected a reason of 1 to 500 characters', abort: true })
    .regex(/\S/, 'expected a reason that says something'),
  until: z
    .string(A_TIME)
    .max(40, { error: A_TIME, abort: true })
    .check(z.iso.datetime({ offset: true, error: A_TIME }))
    .optional()
    .describe('When the exclusion ends by itself, by the clock of the gate: RFC 3339, with a zone, in the future.'),
});
