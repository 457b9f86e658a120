/** Opens what the settings name: files, the state folder, Docker, the lock. What keeps the gate from starting is said in one sentence. */

import { userInfo } from 'node:os';
import { join } from 'node:path';
import type Docker from 'dockerode';
import { openPolicyFile } from './policy/policy-file.js';
import { RULES_WITHOUT_A_FILE, type PolicyRules } from './policy/policy-rules.js';
import type { Keys } from './http/auth.js';
import { allowedHosts } from './http/host.js';
import { openTokensFile } from './http/tokens-file.js';
import { localLock } from './lock/local-lock.js';
import { passwordFrom } from './lock/redis/password-file.js';
import { openStateFolder, type StateFolder } from './state/state-folder.js';
import { defaultStateFolders } from './state/usable-folder.js';
import type { Books, Clock, Hands, Lock, Log, Meter } from './model/ports.js';
import { createDockerBooks } from './runtime/docker/books.js';
import { createDockerHands } from './runtime/docker/hands.js';
import { dockerRootDir } from './docker/data-root.js';
import { openProcessRuntime } from './runtime/process/open.js';
import { createFindAuth, dockerConfigFile } from './runtime/docker/registry-auth.js';
import type { Settings } from './settings/settings.js';

/** Why the gate cannot start, in sentences for the operator. */
export class CannotStart extends Error {}

/** Who may call: the tokens file, or the hosts by which this machine alone is addressed. */
export async function openKeys(settings: Settings, log: Log): Promise<Keys> {
  if (settings.tokensFile === null) {
    return { kind: 'open', hosts: allowedHosts(settings.listen, settings.allowedHosts) };
  }
  const opened = await openTokensFile(settings.tokensFile, log);
  if (opened.kind === 'bad') throw new CannotStart(`TUNEPLANE_TOKENS_FILE: ${opened.problems.join('; ')}`);
  return { kind: 'tokens', file: opened.file };
}

/** What a request may ask for, as the policy file says now. */
export async function openRules(settings: Settings, log: Log): Promise<() => PolicyRules | Promise<PolicyRules>> {
  if (settings.policyFile === null) return () => RULES_WITHOUT_A_FILE;
  const opened = await openPolicyFile(settings.policyFile, log);
  if (opened.kind === 'bad') throw new CannotStart(`TUNEPLANE_POLICY_FILE: ${opened.problems.join('; ')}`);
  return () => opened.file.current();
}

/** What starts the jobs and keeps the books of them. */
export interface OpenRuntime {
  readonly books: Books;
  readonly hands: Hands;
  /** The gate's own paths, which no job is given; one more may be found out later. */
  readonly forbidden: readonly string[];
}

/** Docker, or plain processes where the settings say so: then Docker is not asked for at all. */
export function openRuntime(settings: Settings, stateFolder: string, clock: Clock, log: Log): Promise<OpenRuntime> {
  return settings.runtime === 'docker'
    ? openDocker(settings, stateFolder, clock, log)
    : openProcesses(settings.claimsDir ?? join(stateFolder, 'claims'), clock, log);
}

async function openDocker(settings: Settings, stateFolder: string, clock: Clock, log: Log): Promise<OpenRuntime> {
  const docker = await findDocker(log);
  const findAuth = createFindAuth(dockerConfigFile(settings.dockerConfig ?? undefined, process.env));
  const forbidden = [stateFolder, '/var/lib/docker', '/var/run/docker.sock'];
  void dockerRootDir(docker).then((folder) => folder !== null && forbidden.push(folder));
  return {
    books: createDockerBooks({ docker, clock, log, listTimeoutMs: settings.probeTimeoutS * 1000 }),
    hands: createDockerHands({ docker, clock, log, findAuth }),
    forbidden,
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
  return { ...opened, forbidden: [] };
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

/** The state folder, which one live gate holds at a time. */
export async function openState(
  settings: Settings,
  clock: Clock,
  log: Log,
): Promise<Extract<StateFolder, { kind: 'open' }>> {
  const candidates = settings.stateDir === null ? defaultStateFolders(process.env) : [settings.stateDir];
  const state = await openStateFolder({ candidates, instanceId: settings.instanceId, clock, log });
  if (state.kind === 'refused') throw new CannotStart(state.detail);
  log.info({ folder: state.folder, instance_id: state.instanceId }, 'this gate keeps its state here');
  return state;
}

/** The lock: Redis where it is set, else that of one process alone, which is spared the client of Redis. */
export async function openLock(
  settings: Settings,
  clock: Clock,
  log: Log,
  meter: Pick<Meter, 'lockLost'>,
): Promise<Lock & { close(): Promise<void> }> {
  if (settings.redisUrl === null) return Object.assign(localLock(), { close: async () => {} });
  const { createRedisLock } = await import('./lock/lease.js');
  return createRedisLock({
    url: settings.redisUrl,
    password: settings.redisPasswordFile === null ? null : passwordFrom(settings.redisPasswordFile),
    key: settings.lockKey,
    leaseMs: settings.lockLeaseMs,
    clock,
    log,
    meter,
  });
}
