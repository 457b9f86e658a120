/** Removes a container by id, without force, after checking its state once more; src/README.md#left-overs says why. */

import type Docker from 'dockerode';
import { askDocker } from '../../docker/ask-docker.js';
import { inWords, type DockerTrouble } from '../../docker/errors.js';
import type { Hands, Removable, RemoveAnswer } from '../../model/ports/hands.js';
import type { Clock } from '../../model/ports/outside.js';
import type { ContainerState, SeenContainer } from '../../model/snapshot.js';
import { pause } from '../../time/pause.js';
import type { ContainerEvents, Followed } from './events.js';
import { parseContainerList, toSeenContainer } from './parse-containers.js';

export interface RemoveParts {
  readonly docker: Docker;
  readonly clock: Clock;
  readonly events: Pick<ContainerEvents, 'follow'> | null;
  /** In milliseconds. */
  readonly limits: { readonly look: number; readonly remove: number };
}

/** The container's events are followed from before the check until the engine has answered. */
export function createRemove(parts: RemoveParts): Hands['remove'] {
  return async (id, only) => {
    const followed = parts.events?.follow(id) ?? null;
    try {
      return await lookAndRemove(id, only, followed, parts);
    } finally {
      followed?.stop();
    }
  };
}

async function lookAndRemove(
  id: string,
  only: Removable,
  followed: Followed | null,
  parts: RemoveParts,
): Promise<RemoveAnswer> {
  const { clock, limits } = parts;
  const deadline = clock.monotonic() + limits.look + limits.remove;
  for (;;) {
    const seen = await lookAt(id, parts);
    if (seen.kind !== 'seen') return seen;
    const { container } = seen;
    if (!mayGo(container.state, only)) return { kind: 'left', state: container.state };
    const answer = container.state === 'removing' ? UNDER_WAY : await removeNow(id, parts);
    if (answer.kind === 'removed' && only === 'created') return (await hadRun(container, followed)) ?? answer;
    if (answer.kind !== 'under_way') return answer;
    // Another client is removing it: it is gone when Docker no longer lists it. If that removal fails, only a new check
    // tells what may still be removed.
    if (clock.monotonic() + LOOK_AGAIN_MS >= deadline) return { kind: 'in_doubt', detail: answer.detail };
    await pause(LOOK_AGAIN_MS, clock);
  }
}

async function hadRun(container: SeenContainer, followed: Followed | null): Promise<RemoveAnswer | null> {
  const ran = (await followed?.hadRun()) ?? null;
  return ran === null ? null : { kind: 'had_run', container, exitCode: ran.exitCode };
}

/** If another client is removing it already, waits for that. */
function mayGo(state: ContainerState, only: Removable): boolean {
  if (state === 'removing') return true;
  return only === 'created' ? state === 'created' : state === 'exited' || state === 'dead';
}

type Seen =
  | { readonly kind: 'seen'; readonly container: SeenContainer }
  | Extract<RemoveAnswer, { kind: 'gone' | 'in_doubt' }>;

/** By a list, since an inspect hangs for as long as a start does. */
async function lookAt(id: string, { docker, clock, limits }: RemoveParts): Promise<Seen> {
  const asked = await askDocker(
    limits.look,
    (abortSignal) => docker.listContainers({ all: true, filters: { id: [id] }, abortSignal }),
    clock,
  );
  if (asked.kind !== 'answer') return { kind: 'in_doubt', detail: inWords(asked) };
  const listed = parseContainerList(asked.value);
  if (listed.kind === 'garbage') return { kind: 'in_doubt', detail: listed.detail };
  const found = listed.value.find((one) => one.id === id);
  return found === undefined ? { kind: 'gone' } : { kind: 'seen', container: toSeenContainer(found, { kind: 'none' }) };
}

const LOOK_AGAIN_MS = 100;

/** Another client is removing it. */
type UnderWay = { readonly kind: 'under_way'; readonly detail: string };
const UNDER_WAY: UnderWay = { kind: 'under_way', detail: 'another removal of it has not ended' };

async function removeNow(id: string, { docker, clock, limits }: RemoveParts): Promise<RemoveAnswer | UnderWay> {
  // v: removes anonymous volumes with the container; named ones stay.
  const asked = await askDocker(
    limits.remove,
    (abortSignal) => docker.getContainer(id).remove({ v: true, abortSignal }),
    clock,
  );
  if (asked.kind === 'answer') return { kind: 'removed' };
  const underWay = asked.kind === 'answered' && asked.status === 409 && /already in progress/i.test(asked.message);
  return underWay ? { kind: 'under_way', detail: inWords(asked) } : removeTrouble(asked);
}

/** Without force Docker refuses, with 409, to remove a container that is running, paused or restarting. */
function removeTrouble(trouble: DockerTrouble): RemoveAnswer {
  if (trouble.kind !== 'answered') return { kind: 'in_doubt', detail: inWords(trouble) };
  if (trouble.status === 404) return { kind: 'gone' };
  if (trouble.status === 409) return { kind: 'left', state: 'running' };
  return { kind: 'in_doubt', detail: inWords(trouble) };
}
