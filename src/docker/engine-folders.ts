/** The engine's own folders on its machine, as it reports them; access to any of them means control of the machine. */

import type Docker from 'dockerode';
import { z } from 'zod';
import { askDocker, type Asked } from './ask-docker.js';
import { daemonExecRoots } from './daemon-process.js';
import { askInfo } from './engine-facts.js';
import { inWords } from './errors.js';

export type EngineFolders =
  | { readonly kind: 'known'; readonly paths: readonly string[] }
  | { readonly kind: 'unavailable' | 'untold'; readonly detail: string };

/** How many running containers to inspect, since one that shares another's network reveals nothing. */
const ASKED = 8;
const LIMIT_MS = 5000;

/** Its data folder, its folder of run-time files (the exec root) and its containerd socket. */
export async function askEngineFolders(docker: Docker): Promise<EngineFolders> {
  const info = await askInfo(docker);
  if (info.kind === 'blind') {
    return { kind: info.why === 'parse' ? 'untold' : 'unavailable', detail: info.detail };
  }
  const { dataRoot, containerd } = info.value;
  if (dataRoot === null) return { kind: 'untold', detail: 'Docker does not tell its data folder (DockerRootDir)' };
  const execRoots = await askExecRoots(docker);
  if (execRoots.kind !== 'known') return execRoots;
  return { kind: 'known', paths: [dataRoot, ...execRoots.paths, ...(containerd === null ? [] : [containerd])] };
}

/**
 * No API call reports the exec root, but each running container's network namespace lies in it, and inspect reports that
 * path. Where none runs, the command lines and configurations of the visible daemon processes tell.
 */
async function askExecRoots(docker: Docker): Promise<EngineFolders> {
  const filters = { status: ['running'] };
  const listed = await askDocker(LIMIT_MS, (abortSignal) => docker.listContainers({ filters, abortSignal }));
  if (listed.kind !== 'answer') return { kind: 'unavailable', detail: inWords(listed) };
  for (const { Id: id } of listed.value.slice(0, ASKED)) {
    const execRoot = execRootIn(await inspect(docker, id));
    if (execRoot !== null) return { kind: 'known', paths: [execRoot] };
  }
  const told = await daemonExecRoots();
  return told.kind === 'seen' ? { kind: 'known', paths: told.value } : { kind: 'untold', detail: told.detail };
}

/** `/var/run/docker/netns/0d0cc39a4711` lies in the exec root `/var/run/docker`. */
function execRootIn(inspected: Asked<unknown>): string | null {
  const parsed = inspected.kind === 'answer' ? sandbox.safeParse(inspected.value) : null;
  return /^(\/.+)\/netns\/[^/]+$/.exec(parsed?.data?.NetworkSettings.SandboxKey ?? '')?.[1] ?? null;
}

function inspect(docker: Docker, id: string): Promise<Asked<unknown>> {
  return askDocker(LIMIT_MS, (abortSignal) => docker.getContainer(id).inspect({ abortSignal }));
}

const sandbox = z.object({ NetworkSettings: z.object({ SandboxKey: z.string() }) });
