/** Tells a container to end: its own stop signal first, the kill after a grace, both by the engine. */

import type Docker from 'dockerode';
import { askDocker } from '../../docker/ask-docker.js';
import { inWords } from '../../docker/errors.js';
import type { StopAnswer } from '../../model/ports/hands.js';
import type { Clock } from '../../model/ports/outside.js';
import { inTime } from '../../time/in-time.js';

/** The engine answers when the container has ended. A refusal comes at once; whoever asked is not kept for the rest. */
const REFUSED_WITHIN_MS = 500;
const AFTER_GRACE_MS = 60_000;

export async function stopContainer(
  id: string,
  graceSeconds: number,
  { docker, clock }: { readonly docker: Docker; readonly clock: Clock },
): Promise<StopAnswer> {
  const stopping = askDocker(
    graceSeconds * 1000 + AFTER_GRACE_MS,
    (abortSignal) => docker.getContainer(id).stop({ t: graceSeconds, abortSignal }),
    clock,
  );
  const asked = (await inTime(stopping, REFUSED_WITHIN_MS, clock))?.value ?? null;
  if (asked === null || asked.kind === 'answer') return { kind: 'stopping' };
  if (asked.kind !== 'answered') return { kind: 'in_doubt', detail: inWords(asked) };
  if (asked.status === 304) return { kind: 'ended' };
  return asked.status === 404 ? { kind: 'gone' } : { kind: 'failed', daemonMessage: asked.message };
}
