import type Docker from 'dockerode';
import { askDocker } from '../../docker/ask-docker.js';
import { inWords, type DockerTrouble } from '../../docker/errors.js';
import { lockedMemoryLimit, UNLIMITED } from '../../docker/locked-memory.js';
import type { CreateAnswer, Hands, StartAnswer } from '../../model/ports/hands.js';
import type { Clock, Log } from '../../model/ports/outside.js';
import { isAlive } from '../../model/snapshot.js';
import { lookBeforeStart } from './before-start.js';
import { containerSpec } from './container-spec.js';
import type { ContainerEvents } from './events.js';
import { createImages } from './images.js';
import type { FindAuth } from './registry-auth.js';
import { createRemove } from './remove.js';
import { stopContainer } from './stop.js';
import type { StoredCheck } from './stored-check.js';

export interface DockerHandsOptions {
  readonly docker: Docker;
  readonly clock: Clock;
  readonly log: Log;
  readonly findAuth: FindAuth;
  /** Optional: without it, containers are not compared with their requests. */
  readonly stored?: Pick<StoredCheck, 'compare'>;
  /** Optional: without it, a run that was over before its container was removed goes unnoticed. */
  readonly events?: Pick<ContainerEvents, 'follow'>;
  /** Shorter in tests. */
  readonly limits?: Partial<DockerLimits>;
  /** How many bytes a container may lock here; if left out, read from the daemon's entry in `/proc`. */
  readonly lockedMemory?: () => Promise<number>;
}

/** In milliseconds; after each, the result of the call is unknown. */
export interface DockerLimits {
  readonly create: number;
  readonly start: number;
  /** The last check of the state, right before a removal. */
  readonly look: number;
  readonly remove: number;
  readonly imageInspect: number;
  readonly pullStall: number;
}

const LIMITS: DockerLimits = {
  create: 30_000,
  // NVIDIA's hook can wait long for a driver; the container holds its cards meanwhile.
  start: 60 * 60_000,
  look: 10_000,
  remove: 30_000,
  imageInspect: 10_000,
  pullStall: 5 * 60_000,
};

/** The gate's changes to Docker: containers by id, never by name, and never with force. */
export function createDockerHands(options: DockerHandsOptions): Hands {
  const { docker, clock, log, findAuth, lockedMemory = lockedMemoryLimit } = options;
  const limits = { ...LIMITS, ...options.limits };

  /** Determined once: a daemon's permissions do not change while it runs. */
  let memlockLimit: Promise<number> | null = null;
  const memlock = () => (memlockLimit ??= lockedMemory().then((limit) => warnOfLimit(limit, log)));

  const { imageInspect: inspectTimeoutMs, pullStall: stallMs } = limits;
  const images = createImages({ docker, clock, log, findAuth, inspectTimeoutMs, stallMs });

  return {
    ensureImage: images.ensure,

    async create(spec, grant) {
      const body = containerSpec(spec, grant, {
        memlock: await memlock(),
        hidden: images.hiddenFrom(spec.container.image),
      });
      const asked = await askDocker(
        limits.create,
        (abortSignal) => docker.createContainer({ ...body, abortSignal }),
        clock,
      );
      if (asked.kind !== 'answer') return createTrouble(asked);
      const id: unknown = asked.value.id;
      if (typeof id === 'string' && id !== '') return { kind: 'created', id };
      return { kind: 'in_doubt', detail: 'Docker said that it created the container, and gave no id' };
    },

    compare: async (id, spec, grant) => (await options.stored?.compare(id, spec, grant)) ?? { kind: 'as_asked' },

    async start(id) {
      const before = await lookBeforeStart(id, { docker, clock });
      if (before.kind === 'no_command') return { kind: 'refused', daemonMessage: before.detail };
      // A second start of what has ended would run it again.
      if (before.kind === 'changed' && isAlive(before.state)) return { kind: 'started' };
      if (before.kind === 'changed') return { kind: 'gone', daemonMessage: `the container is ${before.state} already` };
      const asked = await askDocker(
        limits.start,
        (abortSignal) => docker.getContainer(id).start({ abortSignal }),
        clock,
      );
      return asked.kind === 'answer' ? { kind: 'started' } : startTrouble(asked);
    },

    remove: createRemove({ docker, clock, events: options.events ?? null, limits }),

    stop: (id, graceSeconds) => stopContainer(id, graceSeconds, { docker, clock }),

    giveUp: async () => ({
      kind: 'in_reach',
      why: 'Docker knows of each of its containers whether it lives; stop this one, or remove it if it has ended',
    }),
  };
}

function warnOfLimit(limit: number, log: Log): number {
  if (limit !== UNLIMITED) {
    log.warn(
      { bytes: limit },
      'Docker may not lift limits here: jobs can lock only so much memory, which RDMA may need',
    );
  }
  return limit;
}

/** As measured on Docker 20.10: 404 refers to the image, though its message reads "no such container"; 409 to the name. */
function createTrouble(trouble: DockerTrouble): CreateAnswer {
  if (trouble.kind !== 'answered') return { kind: 'in_doubt', detail: inWords(trouble) };
  const { status, message: daemonMessage } = trouble;
  if (status === 404 && /no such image/i.test(daemonMessage)) return { kind: 'image_gone', daemonMessage };
  if (status === 409 && /\bname\b/i.test(daemonMessage)) return { kind: 'name_taken', daemonMessage };
  return { kind: isOurFault(status) ? 'refused' : 'failed', daemonMessage };
}

/** A missing network or volume also gives 404; only "no such container" means that ours is gone. */
function startTrouble(trouble: DockerTrouble): StartAnswer {
  if (trouble.kind !== 'answered') return { kind: 'in_doubt', detail: inWords(trouble) };
  const { status, message: daemonMessage } = trouble;
  if (status === 304) return { kind: 'started' };
  if (status === 409 || (status === 404 && /no such container/i.test(daemonMessage)))
    return { kind: 'gone', daemonMessage };
  return { kind: isOurFault(status) ? 'refused' : 'failed', daemonMessage };
}

function isOurFault(status: number): boolean {
  return status >= 400 && status < 500;
}
