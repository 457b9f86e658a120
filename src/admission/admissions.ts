/** The entry to admission: runs one request per run id at a time, counts them, and accepts none while the gate drains. */

import type { Decision, JobSpec } from '../model/admission.js';
import type { Admissions } from '../model/ports/admissions.js';
import type { Observer } from '../model/ports/eyes.js';
import type { Hands } from '../model/ports/hands.js';
import type { Hold, TurnQueue } from '../model/ports/lock.js';
import type { Meter } from '../model/ports/meter.js';
import { refuse } from '../model/refuse.js';
import type { Standpoint } from '../occupancy/left-behind.js';
import { inTime } from '../time/in-time.js';
import type { Admission, Served, TurnResult } from './admission.js';
import { createAttempts } from './attempts.js';
import { claim, type ClaimingParts } from './claim.js';
import { dryRun } from './dry-run.js';
import type { FailedStarts } from './failed-starts.js';
import { createGrants } from './grants.js';
import { createOnePerRun } from './one-per-run.js';
import { serveBatch } from './serve-batch.js';
import { createStarts } from './starts.js';

/** Built here from the other parts. */
type Own = 'queue' | 'attempts' | 'starts' | 'newGrant' | 'standpoint' | 'draining';

export type AdmissionsParts = Omit<ClaimingParts, Own> & {
  readonly observer: Observer;
  readonly hands: Hands;
  readonly meter: Meter;
  readonly failedStarts: FailedStarts;
  /** Creates the queue in front of the lock. */
  readonly makeQueue: (
    serve: (batch: readonly Served[], hold: Hold) => Promise<void>,
  ) => TurnQueue<Admission, TurnResult>;
  readonly settings: AdmitSettings;
};

export interface AdmitSettings {
  readonly instanceId: string;
  /** A random value, new at each start of this process. */
  readonly life: string;
  /** Without Redis, no other gate uses this machine. */
  readonly alone: boolean;
  readonly admitWhenBlind: boolean;
  readonly admitTimeoutMs: number;
  readonly startTimeoutMs: number;
  /** After this time in `created`, another gate's container counts as abandoned. */
  readonly claimGraceMs: number;
  /** How long a request waits for an image pull. */
  readonly pullWaitMs: number;
  /** The maximum number of requests that wait, for the lock or behind an earlier request for the same run. */
  readonly maxWaiting: number;
  readonly lockThrough: 'claim' | 'start';
}

export interface AdmissionsPart extends Admissions {
  /** Since when this gate observes created containers; used by sweeps. */
  readonly standpoint: Standpoint;
  /**
   * Refuses new admissions from now on. Settles when those in progress have ended, or after `withinMs`; tells whether all
   * have ended.
   */
  drain(withinMs: number): Promise<boolean>;
}

export function createAdmissions(parts: AdmissionsParts): AdmissionsPart {
  const { settings, clock, lock, createdSince } = parts;
  const attempts = createAttempts();
  const standpoint: Standpoint = {
    instanceId: settings.instanceId,
    alone: settings.alone,
    isUnderWay: (container) => attempts.isAt(container),
    isPastGrace: (id) => createdSince.ms(id) >= settings.claimGraceMs,
  };
  const own = {
    attempts,
    standpoint,
    starts: createStarts({ ...parts, attempts }),
    newGrant: createGrants(clock, settings),
  };
  const queue = parts.makeQueue((batch, hold) => serveBatch(batch, hold, { ...parts, ...own }));
  const onePerRun = createOnePerRun();
  const underWay = new Set<Promise<Decision>>();
  let draining = false;
  const claiming: ClaimingParts = { ...parts, ...own, queue, draining: () => draining };

  function decide(spec: JobSpec, principal: string, gone: AbortSignal): Promise<Decision> {
    if (queue.waiting + onePerRun.waiting >= settings.maxWaiting)
      return Promise.resolve(busy(queue.waiting + onePerRun.waiting));
    const untilMs = clock.monotonic() + settings.admitTimeoutMs;
    const lastMs = untilMs + settings.pullWaitMs + settings.startTimeoutMs;
    return onePerRun.run(spec.runId, async () =>
      clock.monotonic() < lastMs ? claim({ spec, principal, gone, untilMs }, claiming) : outOfTime(spec.runId),
    );
  }

  return {
    standpoint,
    async admit(spec, principal, gone) {
      const decided = decide(spec, principal.name, gone);
      underWay.add(decided);
      try {
        const decision = await decided;
        noteWaiting(decision, spec, parts.meter);
        return decision;
      } finally {
        underWay.delete(decided);
      }
    },
    dryRun: (spec) => dryRun(spec, { ...parts, ...own }),
    status: () => ({
      inFlight: underWay.size,
      lockWaiters: queue.waiting,
      lockHeld: lock.held,
      redisUp: lock.up,
      draining,
    }),
    async drain(withinMs) {
      draining = true;
      const ended = Promise.allSettled(underWay).then(() => attempts.idle());
      return (await inTime(ended, withinMs, clock)) !== null;
    },
  };
}

function noteWaiting(decision: Decision, { runId }: JobSpec, meter: Meter): void {
  if (decision.kind === 'wait') meter.toldToWait(runId);
  if (decision.kind === 'admitted' || decision.kind === 'starting') meter.noLongerWaiting(runId);
}

function busy(waiting: number): Decision {
  return refuse('busy', { detail: `${waiting} admissions wait already; ask again in a moment` });
}

/** The answer to a request that spent its whole time limit behind earlier requests for the same run. */
function outOfTime(runId: string): Decision {
  return refuse('busy', {
    detail: `earlier requests for the run ${runId} took all of the time of this one; ask again`,
  });
}
