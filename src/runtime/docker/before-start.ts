/** The last check of a container before its start: whether it is still `created`, and whether it contains its command. */

import type { IncomingMessage } from 'node:http';
import { posix } from 'node:path';
import type Docker from 'dockerode';
import { z } from 'zod';
import { askDocker, type Asked } from '../../docker/ask-docker.js';
import type { Clock } from '../../model/ports/outside.js';
import { CONTAINER_STATES, type ContainerState } from '../../model/snapshot.js';
import { deadlineIn } from '../../time/deadline.js';

/** For all questions together; a doubt starts the job. */
const WITHIN_MS = 3000;
/** Where the environment has no PATH, the engine gives this one (moby, oci/defaults and pkg/system). */
const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** A link that leads on for longer is a circle. */
const MOST_LINKS = 8;

export type BeforeStart =
  | { readonly kind: 'go' }
  /** Something else changed it: this process may no longer start it. */
  | { readonly kind: 'changed'; readonly state: ContainerState }
  /** `detail` tells a person what is missing. */
  | { readonly kind: 'no_command'; readonly detail: string };

/**
 * With an init, the engine starts a missing command all the same, and the job ends with 127. A command counts as missing
 * only if the engine reports it missing in every folder; any doubt is a `go`. Files that NVIDIA's hook adds at the start
 * (nvidia-smi and others) cannot exist yet.
 */
export async function lookBeforeStart(
  id: string,
  { docker, clock }: { readonly docker: Docker; readonly clock: Clock },
): Promise<BeforeStart> {
  const deadline = deadlineIn(WITHIN_MS, clock);
  const asked = await askDocker(WITHIN_MS, (abortSignal) => docker.getContainer(id).inspect({ abortSignal }), clock);
  const body: unknown = asked.kind === 'answer' ? asked.value : null;
  const state = stateBody.safeParse(body).data?.State.Status;
  if (state !== undefined && state !== 'created') return { kind: 'changed', state };
  const inspected = commandBody.safeParse(body);
  if (!inspected.success) return { kind: 'go' };
  const { Path: command, Config, HostConfig } = inspected.data;
  const given = (HostConfig.DeviceRequests ?? []).length > 0;
  // Without an init the engine itself refuses at the start.
  if (HostConfig.Init !== true || (given && posix.basename(command).startsWith('nvidia-'))) return { kind: 'go' };
  const env = Config.Env ?? [];
  for (const path of candidates(command, env, Config.WorkingDir || '/')) {
    if ((await look(path, id, docker, deadline, clock)) !== 'absent') return { kind: 'go' };
  }
  // A container that is gone has nothing in it; that is for the start to find out.
  if ((await look('/', id, docker, deadline, clock)) !== 'there') return { kind: 'go' };
  const where = command.includes('/') ? 'in the container' : `in any folder of PATH (${pathOf(env)})`;
  return { kind: 'no_command', detail: `exec: "${command}": there is no such file ${where}` };
}

/** As execvp(3) looks for it: a name with a slash is a path, any other is looked for in each folder of PATH. */
export function candidates(command: string, env: readonly string[], workingDir: string): readonly string[] {
  const folders = command.includes('/') ? ['.'] : pathOf(env).split(':');
  return [...new Set(folders.map((folder) => posix.resolve('/', workingDir, folder || '.', command)))];
}

function pathOf(env: readonly string[]): string {
  return env.findLast((entry) => entry.startsWith('PATH='))?.slice('PATH='.length) || DEFAULT_PATH;
}

/** The engine follows the links on the way to a file, and tells of a last one where it leads to. */
async function look(
  path: string,
  id: string,
  docker: Docker,
  deadline: { left(): number },
  clock: Clock,
): Promise<'there' | 'absent' | 'in_doubt'> {
  for (let at = path, links = 0; links <= MOST_LINKS; links += 1) {
    const asked = await askDocker(Math.max(1, deadline.left()), (signal) => statPath(docker, id, at, signal), clock);
    if (asked.kind === 'answered' && asked.status === 404) return 'absent';
    const target = linkIn(asked);
    if (target === null) return asked.kind === 'answer' ? 'there' : 'in_doubt';
    at = posix.resolve(posix.dirname(at), target);
  }
  return 'in_doubt';
}

/** `HEAD /containers/{id}/archive`; the answer is all in a header. */
function statPath(docker: Docker, id: string, path: string, abortSignal: AbortSignal): Promise<IncomingMessage> {
  const request = {
    path: `/containers/${id}/archive?`,
    options: { path },
    method: 'HEAD',
    isStream: true,
    abortSignal,
    statusCodes: { 200: true, 400: 'bad parameter', 404: 'no such file', 500: 'server error' },
  };
  return new Promise((resolve, reject) => {
    docker.modem.dial(request, (error, answer) => {
      if (error) return reject(error);
      const came = answer as IncomingMessage;
      came.resume();
      resolve(came);
    });
  });
}

function linkIn(asked: Asked<IncomingMessage>): string | null {
  if (asked.kind !== 'answer') return null;
  const header = String(asked.value.headers['x-docker-container-path-stat'] ?? '');
  try {
    return pathStat.parse(JSON.parse(Buffer.from(header, 'base64').toString())).linkTarget || null;
  } catch {
    return null;
  }
}

const pathStat = z.object({ linkTarget: z.string().nullish() });
const stateBody = z.object({ State: z.object({ Status: z.enum(CONTAINER_STATES) }) });
const commandBody = z.object({
  Path: z.string().min(1),
  Config: z.object({ Env: z.array(z.string()).nullish(), WorkingDir: z.string().nullish() }),
  HostConfig: z.object({ Init: z.boolean().nullish(), DeviceRequests: z.array(z.unknown()).nullish() }),
});
