/**
 * The paths and volumes on this machine that no job may mount, besides those forbidden everywhere: the engine's and the
 * gate's own.
 */

import type Docker from 'dockerode';
import { z } from 'zod';
import type { AskOffLimits, OffLimitsAnswer } from '../model/ports/off-limits.js';
import { askDocker } from './ask-docker.js';
import { askEngineFolders } from './engine-folders.js';
import { inWords } from './errors.js';
import { asGiven, ownContainerId } from './own-container.js';

export interface OffLimitsParts {
  readonly docker: Docker;
  /** Different for each connection to the engine; null while there is none. */
  readonly connection: () => number | null;
  /** What the gate itself uses: state, tokens, policy, the engine's socket. Absolute paths, as this process sees them. */
  readonly own: readonly string[];
  /** The gate's own container; null where it does not run in one. */
  readonly containerId?: () => Promise<string | null>;
}

/**
 * Asks the current engine, so that one which was down when the gate started is asked once it is up. The answer is cached for
 * as long as the connection lasts, since after a restart it may be another engine.
 * holds for as long as the connection to it does; an engine that was started again may be another one.
 */
export function createOffLimits(parts: OffLimitsParts): AskOffLimits {
  let kept: { readonly connection: number; readonly answer: OffLimitsAnswer } | null = null;
  let asking: Promise<OffLimitsAnswer> | null = null;

  async function askAndKeep(): Promise<OffLimitsAnswer> {
    const connection = parts.connection();
    const answer = await ask(parts);
    const same = connection !== null && connection === parts.connection();
    kept = same && answer.kind === 'known' ? { connection, answer } : null;
    return answer;
  }

  return () => {
    if (kept !== null && kept.connection === parts.connection()) return Promise.resolve(kept.answer);
    // Concurrent callers share one request.
    asking ??= askAndKeep().finally(() => (asking = null));
    return asking;
  };
}

async function ask({ docker, own, containerId = ownContainerId }: OffLimitsParts): Promise<OffLimitsAnswer> {
  const [folders, given] = await Promise.all([askEngineFolders(docker), askGiven(docker, own, await containerId())]);
  if (folders.kind !== 'known') return folders;
  if (given.kind !== 'known') return given;
  return { kind: 'known', paths: [...own, ...folders.paths, ...given.paths], volumes: given.volumes };
}

/** Empty where the gate runs in no container, or in one of another engine, whose volumes jobs here cannot mount. */
async function askGiven(docker: Docker, own: readonly string[], id: string | null): Promise<OffLimitsAnswer> {
  if (id === null) return { kind: 'known', paths: [], volumes: [] };
  const asked = await askDocker(LIMIT_MS, (abortSignal) => docker.getContainer(id).inspect({ abortSignal }));
  if (asked.kind === 'answered' && asked.status === 404) return { kind: 'known', paths: [], volumes: [] };
  if (asked.kind !== 'answer') return { kind: 'unavailable', detail: inWords(asked) };
  const inspected = ownContainer.safeParse(asked.value);
  if (inspected.success) return { kind: 'known', ...asGiven(own, inspected.data.Mounts) };
  return { kind: 'untold', detail: `Docker does not report the mounts of the gate's own container ${id.slice(0, 12)}` };
}

const LIMIT_MS = 5000;

const ownContainer = z.object({
  Mounts: z.array(
    z.object({ Type: z.string(), Name: z.string().optional(), Source: z.string(), Destination: z.string() }),
  ),
});
