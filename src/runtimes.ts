/** Which runtime the settings name, opened. A further one is a folder beside `runtime/docker` and a row in the switch below. */

import { userInfo } from 'node:os';
import { join } from 'node:path';
import type Docker from 'dockerode';
import { dockerRootDir } from './docker/data-root.js';
import { CannotStart } from './model/cannot-start.js';
import type { Books } from './model/ports/books.js';
import type { Hands } from './model/ports/hands.js';
import type { Clock, Log } from './model/ports/outside.js';
import { createDockerBooks } from './runtime/docker/books.js';
import { createContainerEvents } from './runtime/docker/events.js';
import { createDockerHands } from './runtime/docker/hands.js';
import { createFindAuth, dockerConfigFile } from './runtime/docker/registry-auth.js';
import { openProcessRuntime } from './runtime/process/open.js';
import type { Settings } from './settings/settings.js';

/** What starts the jobs and keeps the books of them. */
export interface OpenRuntime {
  readonly books: Books;
  readonly hands: Hands;
  /** The gate's own paths, which no job is given; one more may be found out later. */
  readonly forbidden: readonly string[];
  close(): void;
}

/** Docker, or plain processes where the settings say so: then Docker is not asked for at all. */
export function openRuntime(settings: Settings, stateFolder: string, clock: Clock, log: Log): Promise<OpenRuntime> {
  switch (settings.runtime) {
    case 'docker':
      return openDocker(settings, stateFolder, clock, log);
    case 'process':
      return openProcesses(settings.claimsDir ?? join(stateFolder, 'claims'), clock, log);
    default:
      return settings.runtime satisfies never;
  }
}

async function openDocker(settings: Settings, stateFolder: string, clock: Clock, log: Log): Promise<OpenRuntime> {
  const docker = await findDocker(log);
  const findAuth = createFindAuth(dockerConfigFile(settings.dockerConfig ?? undefined, process.env));
  const forbidden = [stateFolder, '/var/lib/docker', '/var/run/docker.sock'];
  void dockerRootDir(docker).then((folder) => folder !== null && forbidden.push(folder));
  const events = createContainerEvents({ docker, clock, log });
  return {
    books: createDockerBooks({ docker, clock, log, listTimeoutMs: settings.probeTimeoutS * 1000 }),
    hands: createDockerHands({ docker, clock, log, findAuth, events }),
    forbidden,
    close: () => events.close(),
  };
}

async function openProcesses(folder: string, clock: Clock, log: Log): Promise<OpenRuntime> {
  const opened = await openProcessRuntime({ folder, clock, environment: process.env });
  if (opened.kind === 'refused') throw new CannotStart(opened.detail);
  const { username: user, uid } = userInfo();
  log.warn(
    { user, uid, claims: folder },
    `jobs are started as plain processes of the user ${user}, with no walls around them: whoever may admit can do all that this user can`,
  );
  return { ...opened, forbidden: [], close: () => {} };
}

/** The client for Docker. An engine that would drop device requests is refused; one that does not answer yet is not. */
async function findDocker(log: Log): Promise<Docker> {
  // Loaded here, since a gate that starts plain processes never needs it.
  const { checkEngine, createDockerClient } = await import('./docker/client.js');
  const found = createDockerClient(process.env);
  if (found.kind === 'problem') throw new CannotStart(found.detail);
  const engine = await checkEngine(found.docker);
  if (engine.kind === 'refused') throw new CannotStart(engine.detail);
  if (engine.kind === 'ok') log.info({ docker: found.endpoint, version: engine.version }, 'Docker answers');
  else log.warn({ docker: found.endpoint }, `Docker does not answer yet: ${engine.detail}`);
  return found.docker;
}
