/**
 * Opens the runtime that the settings name. A new runtime is a folder beside `runtime/docker` and a row in the switch below.
 */

import { userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import type { FoundClient } from './docker/client.js';
import { createOffLimits } from './docker/off-limits.js';
import { CannotStart } from './model/cannot-start.js';
import type { Books } from './model/ports/books.js';
import type { Hands } from './model/ports/hands.js';
import type { Endings } from './model/ports/line.js';
import type { AskOffLimits } from './model/ports/off-limits.js';
import type { Clock, Log } from './model/ports/outside.js';
import { createDockerBooks } from './runtime/docker/books.js';
import { createContainerEvents } from './runtime/docker/events.js';
import { createDockerHands } from './runtime/docker/hands.js';
import { createFindAuth, dockerConfigFile } from './runtime/docker/registry-auth.js';
import { createStoredCheck } from './runtime/docker/stored-check.js';
import { openProcessRuntime } from './runtime/process/open.js';
import { ownPaths } from './settings/own-paths.js';
import type { Settings } from './settings/settings.js';

/** What starts the jobs and lists them. */
export interface OpenRuntime {
  readonly books: Books;
  readonly hands: Hands;
  readonly offLimits: AskOffLimits;
  /** Why jobs cannot be started correctly at the moment; null where no problem is known. */
  trouble(): string | null;
  readonly endings: Endings;
  close(): void;
}

/**
 * Docker, or plain processes where the settings say so; Docker is then not contacted at all. `files`: of the gate, besides those
 * that the settings name.
 */
export function openRuntime(
  settings: Settings,
  stateFolder: string,
  files: readonly string[],
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<OpenRuntime> {
  switch (settings.runtime) {
    case 'docker':
      return openDocker(settings, [stateFolder, ...files], clock, log);
    case 'process':
      return openProcesses(settings.claimsDir ?? join(stateFolder, 'claims'), clock, log);
    default:
      return settings.runtime satisfies never;
  }
}

async function openDocker(settings: Settings, files: readonly string[], clock: Clock, log: Log): Promise<OpenRuntime> {
  const { docker, paths } = await findDocker(log);
  const credentials = dockerConfigFile(settings.dockerConfig ?? undefined, process.env);
  const findAuth = createFindAuth(credentials);
  const own = [...ownPaths(settings), ...files, credentials.path, ...paths].map((path) => resolve(path));
  const events = createContainerEvents({ docker, clock, log });
  const connection = (): number | null => events.connection();
  const stored = createStoredCheck({ docker, clock, connection });
  return {
    books: createDockerBooks({ docker, clock, log, listTimeoutMs: settings.probeTimeoutS * 1000 }),
    hands: createDockerHands({ docker, clock, log, findAuth, events, stored }),
    offLimits: createOffLimits({ docker, connection, own }),
    trouble: () => stored.trouble(),
    endings: events,
    close: () => events.close(),
  };
}

async function openProcesses(folder: string, clock: Clock, log: Log): Promise<OpenRuntime> {
  const opened = await openProcessRuntime({ folder, clock, environment: process.env });
  if (opened.kind === 'refused') throw new CannotStart(opened.detail);
  const { username: user, uid } = userInfo();
  log.warn(
    { user, uid, claims: folder },
    `jobs are started as plain processes of the user ${user}, without isolation: every caller with the role admit can do what this user can`,
  );
  return { ...opened, offLimits: nothing, trouble: () => null, close: () => {} };
}

/** A plain process has no mounts. */
const nothing: AskOffLimits = () => Promise.resolve({ kind: 'known', paths: [], volumes: [] });

/** The client for Docker. Refuses an engine that would drop device requests, but not one that does not answer yet. */
async function findDocker(log: Log): Promise<Extract<FoundClient, { kind: 'found' }>> {
  // Loaded here, since a gate that starts plain processes never needs it.
  const { checkEngine, createDockerClient } = await import('./docker/client.js');
  const found = createDockerClient(process.env);
  if (found.kind === 'problem') throw new CannotStart(found.detail);
  const engine = await checkEngine(found.docker);
  if (engine.kind === 'refused') throw new CannotStart(engine.detail);
  if (engine.kind === 'ok') log.info({ docker: found.endpoint, version: engine.version }, 'Docker answers');
  else log.warn({ docker: found.endpoint }, `Docker does not answer yet: ${engine.detail}`);
  return found;
}
