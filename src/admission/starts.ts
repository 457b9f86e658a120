/**
 * Starts what this process created, once and by container id, and removes it if the start fails: steps 8 and 9 in
 * src/README.md.
 */

import type { RefusalCode } from '../model/admission.js';
import type { CardUuid } from '../model/card.js';
import type { Books } from '../model/ports/books.js';
import type { Hands } from '../model/ports/hands.js';
import type { Meter } from '../model/ports/meter.js';
import type { Clock, Log } from '../model/ports/outside.js';
import { refuse } from '../model/refuse.js';
import { isAlive } from '../model/snapshot.js';
import type { Claimed } from './admission.js';
import type { Attempts, Ended } from './attempts.js';
import type { FailedStarts } from './failed-starts.js';
import { takeBack } from './take-back.js';

export interface Starts {
  /**
   * Starts the container once, however often this is called. The promise resolves when the start has ended, however long
   * that takes, and never rejects. By then the attempt at this run has ended too.
   */
  begin(claim: Claimed): Promise<Ended>;
}

export interface StartParts {
  readonly books: Pick<Books, 'findLabelled'>;
  readonly hands: Pick<Hands, 'start' | 'remove'>;
  readonly attempts: Pick<Attempts, 'end'>;
  readonly failedStarts: Pick<FailedStarts, 'failed' | 'succeeded'>;
  readonly clock: Clock;
  readonly meter: Pick<Meter, 'phase' | 'startFailed'>;
  readonly log: Log;
}

export function createStarts(parts: StartParts): Starts {
  const begun = new Map<string, Promise<Ended>>();

  async function startAndEnd(claim: Claimed): Promise<Ended> {
    const began = parts.clock.monotonic();
    const how = await start(claim, parts).catch((error: unknown) => faulty(claim, error, parts.log));
    if (how.kind === 'running') parts.failedStarts.succeeded(uuidsOf(claim));
    parts.meter.phase('start', (parts.clock.monotonic() - began) / 1000);
    begun.delete(claim.containerId);
    parts.attempts.end(claim.spec.runId, how);
    return how;
  }

  return {
    begin(claim) {
      const ending = begun.get(claim.containerId) ?? startAndEnd(claim);
      begun.set(claim.containerId, ending);
      return ending;
    },
  };
}

async function start(claim: Claimed, parts: StartParts): Promise<Ended> {
  const answer = await parts.hands.start(claim.containerId);
  switch (answer.kind) {
    case 'started':
      return { kind: 'running', state: 'running' };
    case 'gone':
      return { kind: 'look_again' };
    case 'refused':
      return rollBack(claim, 'container_refused', 'refuses to start this container', answer.daemonMessage, parts);
    case 'failed':
      return startFailed(claim, 'failed to start the container', answer.daemonMessage, parts);
    case 'in_doubt':
      return settleDoubt(claim, answer.detail, parts);
    default:
      return answer satisfies never;
  }
}

/** A start that timed out may have happened, or may still happen: settled by a list, never by a second start. */
async function settleDoubt(claim: Claimed, detail: string, parts: StartParts): Promise<Ended> {
  const listed = await parts.books.findLabelled(claim.spec.runId);
  if (listed.kind === 'blind') {
    return refuse('docker_unavailable', {
      detail: `the runtime did not say whether the container started: ${listed.detail}; the claim stands, ask again with the same run_id`,
      rolledBack: false,
    });
  }
  const state = listed.value.find(({ id }) => id === claim.containerId)?.state;
  if (state === 'created') return startFailed(claim, 'did not start the container', detail, parts);
  return state !== undefined && isAlive(state) ? { kind: 'running', state } : { kind: 'look_again' };
}

function startFailed(claim: Claimed, what: string, daemonMessage: string, parts: StartParts): Promise<Ended> {
  parts.meter.startFailed(uuidsOf(claim));
  parts.failedStarts.failed(uuidsOf(claim));
  return rollBack(claim, 'start_failed', what, daemonMessage, parts);
}

function uuidsOf({ cards }: Claimed): readonly CardUuid[] {
  return cards.flatMap(({ uuid }) => (uuid === null ? [] : [uuid]));
}

async function rollBack(
  { containerId }: Claimed,
  code: RefusalCode & ('start_failed' | 'container_refused'),
  what: string,
  daemonMessage: string,
  { hands, log }: StartParts,
): Promise<Ended> {
  const taken = await takeBack(containerId, hands);
  if (taken.kind === 'runs') return { kind: 'running', state: taken.state };
  if (taken.kind === 'look_again') return taken;
  if (taken.kind === 'in_doubt') {
    log.warn(
      { container_id: containerId, detail: taken.detail },
      'a container that failed to start could not be removed',
    );
  }
  return refuse(code, { detail: `the runtime ${what}`, daemonMessage, rolledBack: taken.kind === 'taken_back' });
}

function faulty(claim: Claimed, error: unknown, log: Log): Ended {
  log.error({ err: error, container_id: claim.containerId }, 'a start failed because of a bug in the gate');
  return refuse('internal', { detail: 'the start failed because of a bug in the gate', rolledBack: false });
}
