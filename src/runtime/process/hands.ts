import type { Grant, JobSpec } from '../../model/admission.js';
import { containerName } from '../../model/labels.js';
import type { CreateAnswer, Hands, StartAnswer } from '../../model/ports/hands.js';
import type { Clock } from '../../model/ports/outside.js';
import { runLabels } from '../labels.js';
import type { ClaimsFolder } from './claims-folder.js';
import { createEnvironmentSearch } from './environment-search.js';
import { findProgram } from './find-program.js';
import { jobEnvironment } from './job-environment.js';
import { startLauncher } from './launcher.js';
import type { Liveness } from './liveness.js';
import { giveUp, inDoubt, remove } from './removal.js';
import { stopJob } from './stop.js';

export interface ProcessHandsParts {
  readonly claims: ClaimsFolder;
  readonly liveness: Liveness;
  readonly kernel: string;
  readonly clock: Clock;
  /** The gate's own environment. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Makes an id of 32 hex digits. */
  readonly newId: () => string;
  /** Called when a job that this process started has ended. */
  readonly onEnd: (id: string) => void;
}

/** How often to retry when another process changed the claim first. States only move forward, so fewer retries suffice. */
const TRIES = 10;

/** The gate's changes to claims and their processes. By id, never by name; nothing here ends a process. */
export function createProcessHands(parts: ProcessHandsParts): Hands {
  // Created by this process and not started yet.
  const own = new Set<string>();
  const search = createEnvironmentSearch();
  return {
    ensureImage: async () => ({ kind: 'present' }),
    async create(spec, grant) {
      const answer = await create(spec, grant, parts);
      if (answer.kind === 'created') own.add(answer.id);
      return answer;
    },
    // This process writes its claim atomically.
    compare: async () => ({ kind: 'as_asked' }),
    async start(id) {
      const answer = await start(id, own.has(id), parts).catch(inDoubt);
      if (answer.kind === 'started') own.delete(id);
      return answer;
    },
    async remove(id, only) {
      const answer = await remove(id, only, parts).catch(inDoubt);
      if (answer.kind === 'removed' || answer.kind === 'gone') own.delete(id);
      return answer;
    },
    stop: (id, graceSeconds) => stopJob(id, graceSeconds, { ...parts, search }).catch(inDoubt),
    giveUp: (id) => giveUp(id, parts).catch(inDoubt),
  };
}

async function create(spec: JobSpec, grant: Grant, parts: ProcessHandsParts): Promise<CreateAnswer> {
  const { claims, clock } = parts;
  const id = parts.newId();
  const name = containerName(spec.runId);
  const env = jobEnvironment(spec, grant, id, parts.environment);
  const workingDir = spec.container.workingDir ?? '/';
  const [program = '', ...rest] = spec.container.command ?? [];
  const found = await findProgram(program, env['PATH'] ?? DEFAULT_PATH, workingDir);
  if (found.kind === 'refused') return { kind: 'refused', daemonMessage: found.words };
  const command = [found.path, ...rest] as const;
  try {
    const labels = runLabels(spec, grant);
    const made = await claims.create({
      id,
      name,
      createdAtMs: clock.now(),
      labels,
      command: [...command],
      env,
      workingDir,
    });
    if (made) return { kind: 'created', id };
    return { kind: 'name_taken', daemonMessage: `the name ${name} is in use in ${claims.folder}` };
  } catch (error) {
    return { kind: 'failed', daemonMessage: (error as Error).message };
  }
}

/**
 * A claim is started once: giving it to a launcher is one rename that only a created claim allows, so nothing that runs or
 * has ended can be run again by anyone. And only by its creator: another gate may consider it abandoned, and remove it.
 */
async function start(id: string, isOwn: boolean, { claims, kernel, onEnd }: ProcessHandsParts): Promise<StartAnswer> {
  for (let tries = 0; tries < TRIES; tries++) {
    const entry = await claims.byId(id);
    if (entry === null || entry.standing.kind === 'removing') {
      return { kind: 'gone', daemonMessage: `no such claim: ${id}` };
    }
    if (entry.standing.kind === 'run') return { kind: 'started' };
    if (!isOwn)
      return { kind: 'gone', daemonMessage: `the claim ${id} can only be started by the process that created it` };
    const launcher = await startLauncher(entry.claim, entry.prefix, kernel, () => onEnd(id));
    if (launcher.kind === 'failed') return { kind: 'failed', daemonMessage: launcher.words };
    const { pid, startTicks } = launcher;
    try {
      if (await claims.move(entry, { kind: 'run', kernel, pid, startTicks })) return { kind: 'started' };
    } finally {
      launcher.letGo();
    }
  }
  return inDoubt(new Error(`the claim ${id} keeps changing`));
}

/** The default without any PATH, as in execvp(3). */
const DEFAULT_PATH = '/bin:/usr/bin';
