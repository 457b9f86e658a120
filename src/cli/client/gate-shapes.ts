/**
 * The part of the gate's answers that the commands read. Additional fields of a newer gate are accepted. The complete schema
 * is at `/openapi.json`.
 */

import { z } from 'zod';

const holder = z.object({ run_id: z.string(), state: z.string() });
const finding = z.object({ reason: z.string(), detail: z.string() });

const card = z.object({
  index: z.number().nullable(),
  uuid: z.string().nullable(),
  name: z.string().nullable(),
  state: z.string(),
  claims: z.number(),
  held_by: holder.nullable(),
  excluded: z
    .object({ by: z.string(), reason: z.string(), principal: z.string().nullish(), until: z.string().nullish() })
    .nullable(),
  external: z
    .object({
      processes: z.array(z.object({ pid: z.number(), name: z.string(), memory_mib: z.number().nullable() })),
      memory_mib: z.number().nullable(),
      containers: z.array(z.string()),
    })
    .nullable(),
  unhealthy: z.array(finding),
  warnings: z.array(finding),
  failed_starts: z.number().default(0),
  unknown_because: z.string().nullable().optional(),
  reserved_for: z.string().nullish(),
  memory_used_bytes: z.number().nullable(),
  memory_size_bytes: z.number().nullable(),
  utilization_ratio: z.number().nullish(),
  temperature_celsius: z.number().nullish(),
  power_watts: z.number().nullish(),
  held_idle_seconds: z.number().nullish(),
});
export type ShownCard = z.infer<typeof card>;

const probe = z.object({
  ok: z.boolean().nullable(),
  took_ms: z.number().nullish(),
  detail: z.string().nullish(),
});

/** `GET /cards`. */
export const shownCards = z.object({
  observed_at: z.string(),
  explain: z.string(),
  notes: z.array(z.string()).default([]),
  probes: z.record(z.string(), probe),
  cards: z.array(card),
});
export type ShownCards = z.infer<typeof shownCards>;

/** The line, of `GET /status.json`; an older gate has none. */
export const shownLine = z.object({
  line: z
    .array(
      z.object({
        run_id: z.string(),
        position: z.number(),
        count: z.number(),
        principal: z.string(),
        since: z.string(),
        waiting_seconds: z.number(),
      }),
    )
    .default([]),
});
export type ShownPlace = z.infer<typeof shownLine>['line'][number];

/** `GET /readyz`, with 200 or 503. */
export const shownReadiness = z.object({
  ready: z.boolean(),
  parts: z.record(z.string(), z.object({ ok: z.boolean(), detail: z.string().nullable() })),
});
export type ShownReadiness = z.infer<typeof shownReadiness>;

/** `POST /admit` with a decision. */
export const shownDecision = z.object({
  decision: z.enum(['admitted', 'starting', 'ended', 'wait', 'would_admit', 'would_wait', 'would_replay']),
  replayed: z.boolean().optional(),
  run_id: z.string(),
  gpus: z.array(z.number()).optional(),
  placement: z.object({ reasons: z.array(z.string()) }).nullish(),
  run: z.object({ name: z.string(), state: z.string(), exit_code: z.number().nullish() }).optional(),
  requested: z.number().optional(),
  free: z.number().optional(),
  retry_after_seconds: z.number().optional(),
  explain: z.string().optional(),
  reasons: z.array(z.object({ code: z.string(), cards: z.array(z.number()) })).optional(),
});
export type ShownDecision = z.infer<typeof shownDecision>;

/** `GET /runs/{run_id}`. */
export const shownRun = z.object({
  run_id: z.string(),
  state: z.string(),
  position: z.number().nullish(),
  principal: z.string().nullish(),
  image: z.string().nullish(),
  cards: z.array(z.object({ index: z.number().nullable(), uuid: z.string().nullable() })),
  exit_code: z.number().nullable(),
  error: z.string().nullable(),
  created_at: z.string().nullable(),
  started_at: z.string().nullable(),
  finished_at: z.string().nullable(),
});

/** `GET /runs`. */
export const shownRuns = z.object({ runs: z.array(shownRun) });
export type ShownRuns = z.infer<typeof shownRuns>;

/** `application/problem+json`. */
export const shownProblem = z.object({
  code: z.string(),
  detail: z.string(),
  errors: z.array(z.object({ pointer: z.string(), detail: z.string() })).optional(),
  daemon_message: z.string().optional(),
  rolled_back: z.boolean().optional(),
});
