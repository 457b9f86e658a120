/** The client for the engine that Docker's own CLI would use, and whether the engine can run jobs. */

import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type Docker from 'dockerode';
import { dockerEndpoint, type DockerEndpoint } from './endpoint.js';
import { askVersion } from './engine-facts.js';
import { loadDockerode } from './lean-dockerode.js';

const Dockerode = loadDockerode();

/**
 * A client, whether or not anything listens there; `endpoint` is for people, `paths` are what gives access to it on this
 * machine (the socket, or the folder with the certificates). Or the reason why there is none.
 */
export type FoundClient =
  | {
      readonly kind: 'found';
      readonly docker: Docker;
      readonly endpoint: string;
      readonly paths: readonly string[];
    }
  | { readonly kind: 'problem'; readonly detail: string };

/** The client for the engine that Docker's own CLI would use. Does not connect yet. */
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

/** What kind of engine answered. `unreachable` is no refusal: the gate starts, shows it, and works once Docker does. */
export type EngineCheck =
  | { readonly kind: 'ok'; readonly version: string }
  | { readonly kind: 'unreachable'; readonly detail: string }
  | { readonly kind: 'refused'; readonly detail: string };

/**
 * Refuses an engine that would start jobs without their cards. Podman's socket silently drops device requests (measured on
 * 4.3).
 */
export async function checkEngine(docker: Docker, limitMs?: number): Promise<EngineCheck> {
  const asked = await askVersion(docker, limitMs);
  if (asked.kind === 'blind') return { kind: 'unreachable', detail: asked.detail };
  const { version, apiVersion, podman } = asked.value;
  if (podman === null && !isBefore(apiVersion, FIRST_WITH_DEVICE_REQUESTS)) return { kind: 'ok', version };
  if (podman === null) {
    return {
      kind: 'refused',
      detail: `this is an engine ${version} with the API ${apiVersion}, which knows no device requests: jobs would start without cards. They came with Docker 19.03 (API 1.40)`,
    };
  }
  return {
    kind: 'refused',
    detail: `this socket is ${podman} ${version}: it drops device requests, so that jobs would start without cards. Point DOCKER_HOST at a Docker Engine`,
  };
}

/** https://docs.docker.com/reference/api/engine/version-history/ (v1.40) */
const FIRST_WITH_DEVICE_REQUESTS = [1, 40] as const;

/** An engine that reports no version is judged by what it stores (`runtime/docker/stored-check.ts`). */
function isBefore(apiVersion: string, [wantedMajor, wantedMinor]: readonly [number, number]): boolean {
  const [, major, minor] = /^(\d+)\.(\d+)$/.exec(apiVersion) ?? [];
  if (major === undefined || minor === undefined) return false;
  return Number(major) < wantedMajor || (Number(major) === wantedMajor && Number(minor) < wantedMinor);
}

/**
 * Sets every option that dockerode would otherwise take from the environment, to undefined where unwanted, so that only the
 * endpoint above counts. No API version: the engine then uses its own. No agent: it makes many simultaneous calls a hundred
 * times slower. No timeout: it does not cover a body.
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
