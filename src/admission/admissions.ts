/** The entry to admission: runs one request per run id at a time, counts them, and accepts none while the gate drains. */

import { createHeldRequests, MOST_HELD } from '../line/held-requests.js';
import { createPlaces } from '../line/places.js';
import { walkLine, type LineRules } from '../line/walk.js';
import type { Decision, JobSpec, Principal } from '../model/admission.js';
import { LABEL } from '../model/labels.js';
import type { Occupancy } from '../model/occupancy.js';
import type { Admissions } from '../model/ports/admissions.js';
import type { Observer } from '../model/ports/eyes.js';
import type { Hands } from '../model/ports/hands.js';
import type { Asking, Endings, Line, PlaceStore } from '../model/ports/line.js';
import type { Hold, TurnQueue } from '../model/ports/lock.js';
import type { Meter } from '../model/ports/meter.js';
import { refuse } from '../model/refuse.js';
import type { SeenContainer } from '../model/snapshot.js';
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
type Own = 'queue' | 'attempts' | 'starts' | 'newGrant' | 'standpoint' | 'draining' | 'looked' | 'line';

export type AdmissionsParts = Omit<ClaimingParts, Own> & {
  readonly observer: Observer;
  readonly hands: Hands;
  readonly meter: Meter;
  readonly failedStarts: FailedStarts;
  /** Persists the line across a restart. */
  readonly placeStore: PlaceStore;
  readonly endings: Endings;
  /** Creates the queue in front of the lock. */
  readonly makeQueue: (
    serve: (batch: readonly Served[], hold: Hold) => Promise<void>,
  ) => TurnQueue<Admission, TurnResult>;
  readonly settings: AdmitSettings;
};

export interface AdmitSettings extends LineRules {
  readonly instanceId: string;
  /** A random value, new at each start of this process. */
  readonly life: string;
  /** Without Redis, no other gate uses this machine. */
  readonly alone: boolean;
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

const AGAIN_AFTER_MS = 1000;

export interface AdmissionsPart extends Admissions {
  /** The places in line, for the HTTP endpoints. */
  readonly places: Line;
  /** The line, and what this gate is creating or starting: for those who stop a run. */
  readonly forRuns: {
    readonly line: Line;
    readonly starting: {
      /** Settles when the attempt at this run has ended; null where there is none. */
      of(runId: string): Promise<unknown> | null;
      /** Whether this gate created it, in this life or an earlier one. */
      isOwn(container: SeenContainer): boolean;
    };
  };
  /** Aborts when the gate begins to drain. */
  readonly ending: AbortSignal;
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
  const line = createPlaces({
    clock,
    store: parts.placeStore,
    onEnd: () => held.placeEnded(),
    onTakenAway: (runId) => held.wake(runId),
  });
  const held = createHeldRequests({ ...parts, places: () => line.places(), rules: settings });
  parts.endings.onEnd((id) => held.containerEnded(id));
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
  const looked = (occupancy: Occupancy): void => held.looked(occupancy);
  const queue = parts.makeQueue((batch, hold) => serveBatch(batch, hold, { ...parts, ...own, line, looked }));
  const onePerRun = createOnePerRun();
  const underWay = new Set<Promise<Decision>>();
  let draining = false;
  /** Counted from their arrival on: many may come before the first one is told to wait. */
  let holding = 0;
  const ending = new AbortController();
  const claiming: ClaimingParts = { ...parts, ...own, queue, draining: () => draining };

  function decide(spec: JobSpec, principal: Principal, gone: AbortSignal, asking: Asking): Promise<Decision> {
    if (queue.waiting + onePerRun.waiting >= settings.maxWaiting)
      return Promise.resolve(busy(queue.waiting + onePerRun.waiting));
    const untilMs = clock.monotonic() + settings.admitTimeoutMs;
    const lastMs = untilMs + settings.pullWaitMs + settings.startTimeoutMs;
    return onePerRun.run(spec.runId, async () =>
      clock.monotonic() < lastMs ? claim({ spec, principal, gone, untilMs, asking }, claiming) : outOfTime(spec.runId),
    );
  }

  /** Decides; while the answer is `wait`, decides again each time it may be the run's turn. */
  async function decideInTurn(
    spec: JobSpec,
    principal: Principal,
    gone: AbortSignal,
    holdMs: number,
  ): Promise<Decision> {
    const asking = line.arrive(spec, principal.name);
    if ('kind' in asking) return asking;
    const untilMs = clock.monotonic() + holdMs;
    let decision: Decision = { kind: 'client_gone' };
    if (holdMs > 0) holding += 1;
    try {
      for (;;) {
        decision = await decide(spec, principal, gone, asking);
        const leftMs = untilMs - clock.monotonic();
        if (decision.kind !== 'wait' || leftMs <= 0 || draining || gone.aborted) return placed(decision, spec);
        await held.hold(spec.runId, Math.min(leftMs, againAfterMs(decision)), gone);
        if (gone.aborted) return (decision = { kind: 'client_gone' });
      }
    } finally {
      asking.done(decision);
      if (holdMs > 0) holding -= 1;
    }
  }

  /** Adds the run's place in line to a `wait`. */
  function placed(decision: Decision, { runId }: JobSpec): Decision {
    const place = decision.kind === 'wait' ? line.place(runId) : null;
    if (decision.kind !== 'wait' || place === null) return decision;
    return { ...decision, place: { position: place.position, waitedMs: place.waitedMs } };
  }

  return {
    standpoint,
    places: line,
    forRuns: {
      line,
      starting: {
        of: (runId) => attempts.of(runId),
        isOwn: ({ labels }) => labels[LABEL.admittedBy] === settings.instanceId,
      },
    },
    ending: ending.signal,
    async admit(spec, principal, gone, holdMs = 0) {
      const decided = decideInTurn(spec, principal, gone, holdMs);
      underWay.add(decided);
      try {
        return await decided;
      } finally {
        underWay.delete(decided);
      }
    },
    canHold: () => holding < MOST_HELD,
    line(occupancy) {
      const places = line.places();
      const wanted = places.map((place) => ({ ...place, asks: false }));
      return { places, reservation: walkLine(wanted, occupancy, settings).reservation };
    },
    dryRun: (spec) => dryRun(spec, { ...parts, ...own, line }),
    status: () => ({
      inFlight: underWay.size,
      lockWaiters: queue.waiting,
      lockHeld: lock.held,
      redisUp: lock.up,
      draining,
      line: { waiting: line.places().length, oldestMs: line.places()[0]?.waitedMs ?? null },
    }),
    async drain(withinMs) {
      draining = true;
      ending.abort();
      held.wakeAll();
      const ended = Promise.allSettled(underWay).then(() => attempts.idle());
      return (await inTime(ended, withinMs, clock)) !== null;
    },
  };
}

/** Refusals that pass by themselves are not worth holding a request for: the caller retries soon. */
function againAfterMs({ reasons }: Extract<Decision, { kind: 'wait' }>): number {
  return reasons.some(({ code }) => code === 'lost_race' || code === 'image_pulling') ? AGAIN_AFTER_MS : Infinity;
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
