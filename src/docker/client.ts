import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type Docker from 'dockerode';
import { z } from 'zod';
import { askDocker } from './ask-docker.js';
import { dockerEndpoint, type DockerEndpoint } from './endpoint.js';
import { inWords } from './errors.js';
import { loadDockerode } from './lean-dockerode.js';

const Dockerode = loadDockerode();

/**
 * A client, whether or not anybody listens there; `endpoint` is for people, `paths` are what on this machine lets one in (the
 * socket, or the folder of the certificates). Or why there can be none.
 */
export type FoundClient =
  | {
      readonly kind: 'found';
      readonly docker: Docker;
      readonly endpoint: string;
      readonly paths: readonly string[];
    }
  | { readonly kind: 'problem'; readonly detail: string };

/** The client for the engine that Docker's own client would talk to. Connects to nothing yet. */
export function createDockerClient(env: NodeJS.ProcessEnv): FoundClient {
  const endpoint = dockerEndpoint(env, homedir(), readText);
  if (endpoint.kind === 'problem') return endpoint;
  try {
    const docker = new Dockerode(clientOptions(endpoint));
    return { kind: 'found', docker, endpoint: inUrl(endpoint), paths: waysIn(endpoint) };
  } catch (error) {
    return { kind: 'problem', detail: `the client for ${inUrl(endpoint)} cannot be made: ${(error as Error).message}` };
  }
}

/** What the engine turned out to be. `unreachable` is no refusal: the gate starts, shows it, and works when Docker does. */
export type EngineCheck =
  | { readonly kind: 'ok'; readonly version: string }
  | { readonly kind: 'unreachable'; readonly detail: string }
  | { readonly kind: 'refused'; readonly detail: string };

/** Refuses an engine that would start jobs without their cards. Podman's socket drops device requests silently (measured on 4.3). */
export async function checkEngine(docker: Docker, limitMs = 5000): Promise<EngineCheck> {
  const version = docker.version.bind(docker) as (options: { abortSignal: AbortSignal }) => Promise<unknown>;
  const asked = await askDocker(limitMs, (abortSignal) => version({ abortSignal }));
  if (asked.kind !== 'answer') return { kind: 'unreachable', detail: inWords(asked) };
  const parsed = versionBody.safeParse(asked.value);
  if (!parsed.success)
    return { kind: 'unreachable', detail: 'expected a version from Docker, and its answer made no sense' };
  const podman = (parsed.data.Components ?? []).find((part) => /podman/i.test(part.Name));
  if (podman === undefined) return { kind: 'ok', version: parsed.data.Version };
  return {
    kind: 'refused',
    detail: `this socket is ${podman.Name} ${parsed.data.Version}: it drops device requests, so that jobs would start without cards. Point DOCKER_HOST at a Docker Engine`,
  };
}

const versionBody = z.object({
  Version: z.string(),
  Components: z.array(z.object({ Name: z.string() })).nullish(),
});

/**
 * Everything that dockerode would take from the environment is given here, undefined where it is not to be, so that the
 * endpoint above is all that counts. No API version: the engine then speaks its own. No agent: it makes many calls at once
 * slower by a hundred times. No timeout: it does not cover a body.
 */
function clientOptions(endpoint: Exclude<DockerEndpoint, { kind: 'problem' }>): Docker.DockerOptions {
  const none = { ca: undefined, cert: undefined, key: undefined, timeout: undefined, pathPrefix: '/' };
  if (endpoint.kind === 'unix') {
    return { ...none, socketPath: endpoint.path, host: undefined, port: undefined, protocol: 'http' };
  }
  const { host, port, tls } = endpoint;
  if (tls === null) return { ...none, host, port, protocol: 'http' };
  const file = (name: string) => readFileSync(join(tls, name));
  return { ...none, host, port, protocol: 'https', ca: file('ca.pem'), cert: file('cert.pem'), key: file('key.pem') };
}

function waysIn(endpoint: Exclude<DockerEndpoint, { kind: 'problem' }>): readonly string[] {
  if (endpoint.kind === 'unix') return [endpoint.path];
  return endpoint.tls === null ? [] : [endpoint.tls];
}

function inUrl(endpoint: Exclude<DockerEndpoint, { kind: 'problem' }>): string {
  return endpoint.kind === 'unix' ? `unix://${endpoint.path}` : `tcp://${endpoint.host}:${endpoint.port}`;
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
