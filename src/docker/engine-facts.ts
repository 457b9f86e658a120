/** What an engine reports about itself and its images, for checking an installation. Reads only. */

import type Docker from 'dockerode';
import { z } from 'zod';
import type { Probed } from '../model/snapshot.js';
import { askDocker } from './ask-docker.js';
import { inWords } from './errors.js';

/** `GET /version`. */
export interface EngineVersion {
  readonly version: string;
  readonly apiVersion: string;
  /** As in image names: `linux`; empty where unknown. */
  readonly os: string;
  /** `amd64`, `arm64`; empty where unknown. */
  readonly arch: string;
  /** The engine's name where it is Podman; null for Docker. */
  readonly podman: string | null;
}

/** `GET /info`, the part that concerns GPUs and the engine's folders. */
export interface EngineInfo {
  /** The data folder; null where the engine does not report it. */
  readonly dataRoot: string | null;
  /** The socket of containerd; only newer engines (27 on) report it. */
  readonly containerd: string | null;
  readonly runtimes: readonly string[];
  readonly defaultRuntime: string;
  /** Where the engine looks for CDI specifications; empty where CDI is off or not supported (before Docker 25). */
  readonly cdiFolders: readonly string[];
  /** The names of the CDI devices found, as `nvidia.com/gpu=0`; only newer engines (28.2 on) report them. */
  readonly cdiDevices: readonly string[];
  /** `systemd`, `cgroupfs` or `none`. */
  readonly cgroupDriver: string;
  readonly rootless: boolean;
}

/** An image on this machine and its environment. */
export interface EngineImage {
  readonly name: string;
  readonly env: readonly string[];
}

const LIMIT_MS = 5000;
/** For all images together; those that have not answered by then are left out, and counted in the result. */
const IMAGES_LIMIT_MS = 8000;
const AT_ONCE = 8;

export function askVersion(docker: Docker, limitMs = LIMIT_MS): Promise<Probed<EngineVersion>> {
  return get(docker, '/version', readVersion, limitMs);
}

function readVersion(body: unknown): EngineVersion {
  const { Version: version, ApiVersion, Os, Arch, Components: parts } = versionBody.parse(body);
  const podman = (parts ?? []).find((part) => /podman/i.test(part.Name));
  return { version, apiVersion: ApiVersion ?? '', os: Os ?? '', arch: Arch ?? '', podman: podman?.Name ?? null };
}

/** The time of the engine's machine, in epoch milliseconds. */
export function askTime(docker: Docker): Promise<Probed<number>> {
  return get(
    docker,
    '/info',
    (body) => Date.parse(z.object({ SystemTime: z.iso.datetime({ offset: true }) }).parse(body).SystemTime),
    LIMIT_MS,
  );
}

export function askInfo(docker: Docker): Promise<Probed<EngineInfo>> {
  return get(docker, '/info', (body) => {
    const info = infoBody.parse(body);
    return {
      dataRoot: absolute(info.DockerRootDir),
      containerd: absolute(info.Containerd?.Address),
      runtimes: Object.keys(info.Runtimes ?? {}),
      defaultRuntime: info.DefaultRuntime ?? '',
      cdiFolders: info.CDISpecDirs ?? [],
      cdiDevices: (info.DiscoveredDevices ?? []).filter(({ Source }) => Source === 'cdi').map(({ ID }) => ID),
      cgroupDriver: info.CgroupDriver ?? '',
      rootless: (info.SecurityOptions ?? []).some((option) => option.includes('name=rootless')),
    };
  });
}

/** Every image with its environment; `unanswered` counts those that did not answer in time. */
export async function askImages(
  docker: Docker,
): Promise<Probed<{ readonly images: readonly EngineImage[]; readonly unanswered: number }>> {
  const began = performance.now();
  const listed = await get(docker, '/images/json', (body) => imageList.parse(body));
  if (listed.kind === 'blind') return listed;
  const waiting = [...listed.value];
  const images: EngineImage[] = [];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      if (performance.now() - began > IMAGES_LIMIT_MS) return;
      const { Id: id, RepoTags: tags } = next;
      const asked = await get(docker, `/images/${id}/json`, (body) => imageBody.parse(body).Config?.Env ?? []);
      const name = tags?.find((tag) => tag !== '<none>:<none>') ?? id.slice(0, 19);
      if (asked.kind === 'seen') images.push({ name, env: asked.value });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const unanswered = listed.value.length - images.length;
  return { kind: 'seen', value: { images, unanswered }, tookMs: performance.now() - began };
}

/** dockerode's own functions for these calls ignore the abort signal, or some of them do. */
async function get<T>(
  docker: Docker,
  path: string,
  read: (body: unknown) => T,
  limitMs = LIMIT_MS,
): Promise<Probed<T>> {
  const began = performance.now();
  const asked = await askDocker(limitMs, (abortSignal) => dial(docker, path, abortSignal));
  const tookMs = performance.now() - began;
  if (asked.kind !== 'answer') {
    return { kind: 'blind', why: asked.kind === 'timeout' ? 'timeout' : 'unavailable', detail: inWords(asked), tookMs };
  }
  try {
    // dockerode returns a Buffer where the body was no JSON; it would pass for an object without properties.
    if (Buffer.isBuffer(asked.value)) throw new Error('no JSON');
    return { kind: 'seen', value: read(asked.value), tookMs };
  } catch {
    return { kind: 'blind', why: 'parse', detail: `the answer to GET ${path} is not that of an engine`, tookMs };
  }
}

function dial(docker: Docker, path: string, abortSignal: AbortSignal): Promise<unknown> {
  const request = {
    path,
    method: 'GET',
    abortSignal,
    statusCodes: { 200: true, 404: 'not found', 500: 'server error' },
  };
  return new Promise((resolve, reject) => {
    docker.modem.dial(request, (error, body) => (error ? reject(error) : resolve(body)));
  });
}

const versionBody = z.object({
  Version: z.string(),
  ApiVersion: z.string().nullish(),
  Os: z.string().nullish(),
  Arch: z.string().nullish(),
  Components: z.array(z.object({ Name: z.string() })).nullish(),
});

function absolute(path: string | null | undefined): string | null {
  return path?.startsWith('/') === true ? path : null;
}

const infoBody = z.object({
  DockerRootDir: z.string().nullish(),
  Containerd: z.object({ Address: z.string().nullish() }).nullish(),
  Runtimes: z.record(z.string(), z.unknown()).nullish(),
  DefaultRuntime: z.string().nullish(),
  CDISpecDirs: z.array(z.string()).nullish(),
  DiscoveredDevices: z.array(z.object({ Source: z.string(), ID: z.string() })).nullish(),
  CgroupDriver: z.string().nullish(),
  SecurityOptions: z.array(z.string()).nullish(),
});

const imageList = z.array(z.object({ Id: z.string(), RepoTags: z.array(z.string()).nullish() }));
const imageBody = z.object({ Config: z.object({ Env: z.array(z.string()).nullish() }).nullish() });
