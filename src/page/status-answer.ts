/** Everything that the page shows, as the body of `GET /status.json`: one look, and the gate's condition at that moment. */

import type { z } from 'zod';
import { placesAnswer } from '../admit/answer.js';
import { cardsAnswer } from '../cards/card-answer.js';
import type { Readiness } from '../http/health-routes.js';
import type { Admissions } from '../model/ports/admissions.js';
import type { Observer, Observation } from '../model/ports/eyes.js';
import type { Lock } from '../model/ports/lock.js';
import type { Clock } from '../model/ports/outside.js';
import type { Status } from './client/status.js';
import type { LastSeen } from './last-seen.js';
import type { RecentDecision, RecentDecisions } from './recent-decisions.js';
import type { statusShape } from './status-shape.js';

type StatusAnswer = z.infer<typeof statusShape>;

export interface StatusParts {
  readonly observer: Pick<Observer, 'recent'>;
  /** How long a probe may take, in milliseconds, before it is shown as blind. */
  readonly lookWithinMs: number;
  /** Judged from this look, so that the page never mixes two. */
  readonly readiness: (observation: Observation) => Readiness;
  readonly admissions: Pick<Admissions, 'status' | 'line'>;
  readonly lock: Pick<Lock, 'problem'>;
  readonly lastSeen: Pick<LastSeen, 'times'>;
  readonly decisions: Pick<RecentDecisions, 'recent'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Host name, for a person with ten of these pages open. */
  readonly machine: string;
  readonly version: string;
  readonly startedAtMs: number;
}

export async function statusAnswer(parts: StatusParts): Promise<StatusAnswer> {
  const observation = await parts.observer.recent(parts.lookWithinMs);
  const nowMs = parts.clock.now();
  const { inFlight, lockHeld, lockWaiters, redisUp } = parts.admissions.status();
  const { gpus, processes, health, docker, kernel } = parts.lastSeen.times();
  const line = parts.admissions.line(observation.occupancy);
  return {
    now: isoOf(nowMs),
    machine: parts.machine,
    version: parts.version,
    started_at: isoOf(parts.startedAtMs),
    ...parts.readiness(observation),
    lock: { held: lockHeld, waiting: lockWaiters, redis_up: redisUp, problem: parts.lock.problem() },
    admissions_in_flight: inFlight,
    last_seen: {
      gpus: momentOf(gpus),
      processes: momentOf(processes),
      health: momentOf(health),
      docker: momentOf(docker),
      kernel: momentOf(kernel),
    },
    line: placesAnswer(line.places),
    cards: cardsAnswer(observation, nowMs, line.reservation),
    decisions: parts.decisions.recent().map(decisionAnswer),
    // The page is compiled apart from the gate; this checks both against the same words.
  } satisfies Status & StatusAnswer;
}

/** Without image and caller's address: readers of the page need not know them. */
function decisionAnswer(decision: RecentDecision): StatusAnswer['decisions'][number] {
  const { at, firstAt, times, action, principal, runId, outcome, detail, count, cards, tookMs } = decision;
  return {
    at,
    first_at: firstAt,
    times,
    action,
    principal,
    run_id: runId,
    outcome,
    detail,
    count,
    cards: [...cards],
    took_ms: tookMs,
  };
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}

function momentOf(ms: number | null): string | null {
  return ms === null ? null : isoOf(ms);
}
