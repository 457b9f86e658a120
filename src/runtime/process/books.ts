import { readFile, stat } from 'node:fs/promises';
import { containerName } from '../../model/labels.js';
import type { Books, RunDetails } from '../../model/ports/books.js';
import type { Clock } from '../../model/ports/outside.js';
import {
  holds,
  type ContainersSeen,
  type ContainerState,
  type Probed,
  type SeenContainer,
} from '../../model/snapshot.js';
import { parseClaim } from '../parse-claim.js';
import { BESIDE } from './claim-file.js';
import type { ClaimsFolder, Entry } from './claims-folder.js';
import type { Liveness } from './liveness.js';
import { OUT_OF_REACH, type Asked, type Life } from './other-namespaces.js';
import { createOutput } from './output.js';

/** Who holds which card, by the claim files, and for each run whether the kernel still has a process of it. */
export function createProcessBooks(parts: {
  readonly claims: ClaimsFolder;
  readonly liveness: Liveness;
  readonly clock: Clock;
}): Books {
  const { claims, liveness, clock } = parts;

  async function look<T>(ask: () => Promise<T>): Promise<Probed<T>> {
    const began = clock.monotonic();
    try {
      const value = await ask();
      return { kind: 'seen', value, tookMs: clock.monotonic() - began };
    } catch (error) {
      const detail = `the claim files in ${claims.folder} could not be read: ${(error as Error).message}`;
      return { kind: 'blind', why: 'unavailable', detail, tookMs: clock.monotonic() - began };
    }
  }

  async function seen(entries: readonly Entry[]): Promise<readonly SeenContainer[]> {
    const there = await withoutRemoved(entries, claims);
    const lives = await liveness.of(there.flatMap(runOf));
    return Promise.all(
      there.map(async (entry) => {
        const life = lives.get(entry.claim.id);
        return toSeen(entry, await stateOf(entry, life), life === 'out_of_reach');
      }),
    );
  }

  const listRuns = (): Promise<Probed<ContainersSeen>> =>
    look(async () => {
      const containers = await seen(await claims.all());
      liveness.keepOnly(containers.map(({ id }) => id));
      return { containers };
    });

  // A claim here always has the name that belongs to its run.
  const findRun = (runId: string): Promise<Probed<readonly SeenContainer[]>> =>
    look(async () => {
      const entry = await claims.named(containerName(runId));
      return entry === null ? [] : seen([entry]);
    });

  return {
    async list() {
      const runs = await listRuns();
      if (runs.kind === 'blind') return runs;
      return { ...runs, value: { containers: runs.value.containers.filter(({ state }) => holds(state)) } };
    },
    listRuns,
    findRun,
    findLabelled: findRun,
    // There are no images here that could carry labels.
    isCopy: async () => false,

    output: createOutput({
      claims,
      clock,
      lives: async (id) => {
        const entry = await claims.byId(id);
        return entry !== null && (await liveness.of(runOf(entry))).get(id) === 'lives';
      },
    }),

    describe: ({ id }) =>
      look(async () => {
        const entry = await claims.byId(id);
        if (entry === null || entry.standing.kind === 'removing') return null;
        const life = (await liveness.of(runOf(entry))).get(id);
        return details(entry, await stateOf(entry, life), life);
      }),
  };
}

/** Completes the removal of a gate that died: no process of the job is left, so any gate may do it. */
async function withoutRemoved(entries: readonly Entry[], claims: ClaimsFolder): Promise<readonly Entry[]> {
  for (const entry of entries) if (entry.standing.kind === 'removing') await claims.clear(entry);
  return entries.filter(({ standing }) => standing.kind !== 'removing');
}

function runOf({ claim, standing }: Entry): Asked[] {
  return standing.kind === 'run' ? [{ id: claim.id, run: standing }] : [];
}

/** `dead`: its exit code was never written, since whatever killed it killed its launcher too. */
async function stateOf({ claim, standing, prefix }: Entry, life: Life | undefined): Promise<ContainerState> {
  if (standing.kind !== 'run') return standing.kind;
  if (life !== 'ended') return 'running';
  return (await exitCodeIn(prefix, claim.id)) === null ? 'dead' : 'exited';
}

function toSeen({ claim }: Entry, state: ContainerState, outOfReach: boolean): SeenContainer {
  const { id, name, createdAtMs, labels, command } = claim;
  return {
    id,
    name,
    state,
    outOfReach,
    createdAtMs,
    labels,
    image: null,
    command: command.join(' '),
    claim: parseClaim(labels)?.cards ?? null,
    pinned: { kind: 'none' },
  };
}

async function details(
  { claim: { id }, prefix }: Entry,
  state: ContainerState,
  life: Life | undefined,
): Promise<RunDetails> {
  const place = prefix.slice(0, -id.length);
  const ended = state === 'exited';
  return {
    exitCode: ended ? await exitCodeIn(prefix, id) : null,
    // The kernel reports a kill for lack of memory only in its log.
    oomKilled: null,
    error: life === 'out_of_reach' ? OUT_OF_REACH : whyDead(state),
    startedAt: await writtenAt(place + BESIDE.pid(id)),
    finishedAt: ended ? await writtenAt(place + BESIDE.exit(id)) : null,
  };
}

function whyDead(state: ContainerState): string | null {
  if (state !== 'dead') return null;
  return 'it was killed together with its launcher, or the machine or the container that it ran in ended';
}

/** Null where no complete exit code was written. */
async function exitCodeIn(prefix: string, id: string): Promise<number | null> {
  try {
    const text = await readFile(prefix.slice(0, -id.length) + BESIDE.exit(id), 'utf8');
    return /^\d{1,3}\n$/.test(text) ? Number(text) : null;
  } catch {
    return null;
  }
}

async function writtenAt(file: string): Promise<string | null> {
  try {
    return (await stat(file)).mtime.toISOString();
  } catch {
    return null;
  }
}
