/**
 * Starts what was claimed, by container id, and takes back what would not start. Knows which starts are under way in this
 * process: those containers are nobody's left-overs.
 */

import type { JobSpec, Refusal, Run } from '../model/admission.js';
import type { CardUuid } from '../model/card.js';
import type { Books } from '../model/ports/books.js';
import type { Hands } from '../model/ports/hands.js';
import type { Meter } from '../model/ports/meter.js';
import type { Clock, Log } from '../model/ports/outside.js';
import { refuse } from '../model/refuse.js';
import type { ContainerState } from '../model/snapshot.js';
import type { Claimed } from './serve-batch.js';

export type Launched =
  | { readonly kind: 'running'; readonly state: ContainerState }
  /** Somebody removed it before it ran: start over. */
  | { readonly kind: 'gone' }
  | Refusal;

export interface Launches {
  /** Starts it. The promise is for the end of the start, however long that takes, and never rejects. */
  begin(claimed: Claimed, spec: JobSpec): Promise<Launched>;
  /** The same promise for a container whose start is under way here, else null. */
  underWay(containerId: string): Promise<Launched> | null;
  /** EnvironmentSearch a container as being dealt with here from its create on, until its start ends or `drop` is called. */
  readonly adopt: (containerId: string) => void;
  readonly drop: (containerId: string) => void;
  readonly adopted: (containerId: string) => boolean;
  /** A start that failed after its caller had been told `starting`; kept for an hour. */
  rememberFailure(run: Run): void;
  failure(runId: string): Run | null;
  failures(): readonly Run[];
  forgetFailure(runId: string): boolean;
  /** Settles when no start is under way. */
  idle(): Promise<void>;
}

const KEEP_FAILURES_MS = 3_600_000;

export function createLaunches(parts: {
  readonly books: Books;
  readonly hands: Hands;
  readonly clock: Clock;
  readonly meter: Pick<Meter, 'phase' | 'startFailed'>;
  readonly log: Log;
}): Launches {
  const { clock, meter } = parts;
  const running = new Map<string, Promise<Launched>>();
  const adopted = new Set<string>();
  const failed = new Map<string, { readonly run: Run; readonly atMs: number }>();

  function prune(): void {
    for (const [runId, { atMs }] of failed) if (clock.now() - atMs > KEEP_FAILURES_MS) failed.delete(runId);
  }

  return {
    begin(claimed, spec) {
      const already = running.get(claimed.containerId);
      if (already) return already;
      adopted.add(claimed.containerId);
      failed.delete(spec.runId);
      const began = clock.monotonic();
      const end = startAndSettle(claimed, spec, parts).finally(() => {
        meter.phase('start', (clock.monotonic() - began) / 1000);
        running.delete(claimed.containerId);
        adopted.delete(claimed.containerId);
      });
      running.set(claimed.containerId, end);
      return end;
    },
    underWay: (id) => running.get(id) ?? null,
    adopt: (id) => void adopted.add(id),
    drop: (id) => {
      if (!running.has(id)) adopted.delete(id);
    },
    adopted: (id) => adopted.has(id),
    rememberFailure: (run) => void failed.set(run.runId, { run, atMs: clock.now() }),
    failure(runId) {
      prune();
      return failed.get(runId)?.run ?? null;
    },
    failures() {
      prune();
      return [...failed.values()].map(({ run }) => run);
    },
    forgetFailure: (runId) => failed.delete(runId),
    async idle() {
      while (running.size > 0) await Promise.allSettled(running.values());
    },
  };
}

async function startAndSettle(
  claimed: Claimed,
  spec: JobSpec,
  parts: Parameters<typeof createLaunches>[0],
): Promise<Launched> {
  const answer = await parts.hands.start(claimed.containerId);
  switch (answer.kind) {
    case 'started':
      return { kind: 'running', state: 'running' };
    case 'gone':
      return { kind: 'gone' };
    case 'refused':
      return rollBack(
        claimed,
        'container_refused',
        'the runtime refuses to start this container',
        answer.daemonMessage,
        parts,
      );
    case 'failed':
      parts.meter.startFailed(uuidsOf(claimed));
      return rollBack(
        claimed,
        'start_failed',
        'the runtime failed to start the container',
        answer.daemonMessage,
        parts,
      );
    case 'in_doubt':
      return settleDoubt(claimed, spec, answer.detail, parts);
    default:
      return answer satisfies never;
  }
}

/** A start that was given up on may have happened: the books know. */
async function settleDoubt(
  claimed: Claimed,
  spec: JobSpec,
  detail: string,
  parts: Parameters<typeof createLaunches>[0],
): Promise<Launched> {
  const listed = await parts.books.findRun(spec.runId);
  if (listed.kind === 'blind') {
    return refuse('docker_unavailable', {
      detail: `the runtime did not say whether the container started: ${listed.detail}; the claim stands, ask again with the same run_id`,
      rolledBack: false,
    });
  }
  const container = listed.value.find(({ id }) => id === claimed.containerId);
  if (!container || container.state === 'removing') return { kind: 'gone' };
  if (container.state !== 'created') return { kind: 'running', state: container.state };
  parts.meter.startFailed(uuidsOf(claimed));
  return rollBack(claimed, 'start_failed', 'the runtime did not start the container', detail, parts);
}

async function rollBack(
  claimed: Claimed,
  code: 'start_failed' | 'container_refused',
  detail: string,
  daemonMessage: string,
  { hands, log }: { readonly hands: Hands; readonly log: Log },
): Promise<Launched> {
  const removed = await hands.remove(claimed.containerId);
  if (removed.kind === 'running') return { kind: 'running', state: 'running' };
  const rolledBack = removed.kind === 'removed' || removed.kind === 'gone';
  if (!rolledBack)
    log.warn({ container_id: claimed.containerId }, 'a container that would not start could not be removed');
  return refuse(code, { detail, daemonMessage, rolledBack });
}

function uuidsOf(claimed: Claimed): readonly CardUuid[] {
  return claimed.cards.flatMap(({ uuid }) => (uuid === null ? [] : [uuid]));
}
