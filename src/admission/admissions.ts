/** Takes requests in: one at a time for each run id, counted, and none any more once the gate drains. */

import type { Decision, JobSpec } from '../model/admission.js';
import type { Admissions } from '../model/ports/admissions.js';
import type { Observer } from '../model/ports/eyes.js';
import type { Hold, TurnQueue } from '../model/ports/lock.js';
import { refuse } from '../model/refuse.js';
import { inTime } from '../time/in-time.js';
import { admit, type AdmitParts } from './admit.js';
import { dryRun } from './dry-run.js';
import { oneAtATime } from './one-per-run.js';
import { serveTurn, type TurnJob, type TurnResult } from './serve-batch.js';
import { createLaunches, type Launches } from './starts.js';

export interface AdmissionsParts extends Omit<AdmitParts, 'queue' | 'launches' | 'draining'> {
  readonly observer: Observer;
  /** Makes the line in front of the lock. */
  readonly makeQueue: (
    serve: (jobs: readonly TurnJob[], hold: Hold) => Promise<readonly TurnResult[]>,
  ) => TurnQueue<TurnJob, TurnResult>;
}

export interface AdmissionsPart extends Admissions {
  readonly launches: Launches;
  /** No new admissions from now on; settles when those under way have ended, or after `withinMs`: whether all ended. */
  drain(withinMs: number): Promise<boolean>;
}

export function createAdmissions(parts: AdmissionsParts): AdmissionsPart {
  const { settings, clock, lock, meter } = parts;
  const launches = createLaunches(parts);
  const turnParts = { ...parts, ...settings, launches };
  const queue = parts.makeQueue(async (jobs, hold) => {
    const results = await serveTurn(jobs, hold, turnParts);
    return settings.lockThrough === 'start' ? startUnderLock(jobs, results, launches) : results;
  });
  const perRun = oneAtATime();
  const underWay = new Set<Promise<Decision>>();
  let draining = false;
  const admitParts: AdmitParts = { ...parts, queue, launches, draining: () => draining };

  function note(decision: Decision, spec: JobSpec): void {
    if (decision.kind === 'wait') meter.toldToWait(spec.runId);
    if (decision.kind === 'admitted' || decision.kind === 'starting') meter.noLongerWaiting(spec.runId);
  }

  return {
    launches,
    async admit(spec, principal, gone) {
      const untilMs = clock.monotonic() + settings.admitTimeoutMs;
      const lastMs = untilMs + settings.pullWaitMs + settings.startTimeoutMs;
      const decided = perRun(spec.runId, async () =>
        clock.monotonic() < lastMs ? admit(spec, principal.name, gone, untilMs, admitParts) : outOfTime(spec.runId),
      );
      underWay.add(decided);
      try {
        const decision = await decided;
        note(decision, spec);
        return decision;
      } finally {
        underWay.delete(decided);
      }
    },
    dryRun: (spec) => dryRun(spec, turnParts),
    status: () => ({
      inFlight: underWay.size,
      lockWaiters: queue.waiting,
      lockHeld: lock.held,
      redisUp: lock.up,
      draining,
    }),
    async drain(withinMs) {
      draining = true;
      const ended = Promise.allSettled(underWay).then(() => launches.idle());
      return (await inTime(ended, withinMs, clock)) !== null;
    },
  };
}

/** What is told to a request that stood behind others of the same run for all the time that an answer may take. */
function outOfTime(runId: string): Decision {
  return refuse('busy', {
    detail: `earlier requests for the run ${runId} took all of the time of this one; ask again`,
  });
}

/**
 * For a machine where another allocator does not count a created container: the lock is kept until the containers have left
 * `created`. Who asked is answered as soon as the start ends or takes too long, not when the lock goes back.
 */
async function startUnderLock(
  jobs: readonly TurnJob[],
  results: readonly TurnResult[],
  launches: Launches,
): Promise<readonly TurnResult[]> {
  const started = results.map((result, at) => {
    const job = jobs[at];
    if (result.kind !== 'claimed' || job === undefined) return result;
    const early = { ...result, launched: launches.begin(result, job.spec) };
    job.early(early);
    return early;
  });
  await Promise.all(started.map(async (result) => (result.kind === 'claimed' ? result.launched : null)));
  return started;
}
