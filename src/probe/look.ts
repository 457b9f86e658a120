import type { CardUuid } from '../model/card.js';
import type { Books } from '../model/ports/books.js';
import type { CardStore } from '../model/ports/card-store.js';
import type { Eyes } from '../model/ports/eyes.js';
import type { Clock, Log } from '../model/ports/outside.js';
import type { Probed, Snapshot } from '../model/snapshot.js';
import { deadlineIn, type Deadline } from '../time/deadline.js';
import { inTime } from '../time/in-time.js';
import { assemble, type Said } from './assemble.js';
import type { KernelLog } from './kernel-log/kernel-log.js';
import { clean } from './nvidia-smi/cell.js';
import type { NvidiaSmi } from './nvidia-smi/nvidia-smi.js';
import type { CardsSeen } from './nvidia-smi/query-gpus.js';
import { watchRemovals, type StuckRemovals } from './stuck-removals.js';

export interface EyesParts {
  readonly smi: NvidiaSmi;
  readonly books: Pick<Books, 'list'>;
  readonly cardStore: CardStore;
  readonly kernelLog?: Pick<KernelLog, 'look'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly checkExternal: boolean;
  readonly checkHealth: boolean;
  /** The time limit of a look, whatever its parts do; each part has a shorter limit of its own. */
  readonly limitMs: number;
  /** The recent failed starts by card. Left out: none. */
  readonly failedStarts?: () => ReadonlyMap<CardUuid, number>;
  /** Called once with every finished look. */
  readonly onLook: (snapshot: Snapshot) => void;
}

const NO_KERNEL_LOG: Pick<KernelLog, 'look'> = { look: () => ({ kernel: { kind: 'off' }, xids: [] }) };

/** The maximum age of a finished look that is shown while a slow one is in progress. */
const SHOWN_MEANWHILE_MS = 60_000;

interface Look {
  /** The snapshot when all parts have answered. Never rejects. */
  readonly done: Promise<Snapshot>;
  /** A snapshot now: parts without an answer are blind. */
  soFar(): Snapshot;
  /** The version of the machine's state that it shows; `outdated` increments it. */
  readonly of: number;
}

/** The eyes: one look at a time, shared by all callers. */
export function createEyes(parts: EyesParts): Eyes {
  const { clock } = parts;
  const listBooks = refuseOverlap(parts.books);
  let running: Look | null = null;
  let next: Promise<Snapshot> | null = null;
  let last: { readonly snapshot: Snapshot; readonly endedAt: number; readonly of: number } | null = null;
  let state = 0;

  const stuckRemovals = watchRemovals(clock);
  const start = (): Look => {
    const look = startLook(parts, listBooks, stuckRemovals, state);
    running = look;
    void settle(look);
    return look;
  };

  const settle = async (look: Look): Promise<void> => {
    const snapshot = await look.done;
    running = null;
    last = { snapshot, endedAt: clock.monotonic(), of: look.of };
  };

  /** The last look, if it ended less than this ago and the gate has changed nothing since it began. */
  const lastWithin = (ageMs: number): Snapshot | null =>
    last !== null && last.of === state && clock.monotonic() - last.endedAt < ageMs ? last.snapshot : null;

  return {
    fresh: () => {
      if (running === null) return start().done;
      // All callers that arrive while one runs share the next.
      next ??= running.done.then(() => {
        next = null;
        return (running ?? start()).done;
      });
      return next;
    },
    recent: async (maxAgeMs, withinMs) => {
      const began = clock.monotonic();
      const young = lastWithin(maxAgeMs);
      if (young !== null) return young;
      const before = running;
      // One process of a kind at a time: an outdated look has to end before a new one can begin.
      if (before !== null && before.of !== state && (await inTime(before.done, withinMs, clock)) === null)
        return before.soFar();
      const look = running ?? start();
      const left = Math.max(0, withinMs - (clock.monotonic() - began));
      // A look that takes longer than its caller's limit is slow, not blind: it fails only by its own limit.
      return (await inTime(look.done, left, clock))?.value ?? lastWithin(SHOWN_MEANWHILE_MS) ?? look.soFar();
    },
    outdated: () => void state++,
  };
}

function startLook(parts: EyesParts, listBooks: Books['list'], stuckRemovals: StuckRemovals, of: number): Look {
  const { smi, cardStore, clock, log, checkExternal, checkHealth, limitMs } = parts;
  const startedAtMs = clock.now();
  const deadline = deadlineIn(limitMs, clock);
  const said: Said = checkExternal ? {} : { processes: { kind: 'off' } };
  const blindFor = (error: unknown): Probed<never> => mistake(error, log, deadline);

  const gpus = async (): Promise<void> => {
    said.cards = await smi.gpus().catch((error: unknown): CardsSeen => {
      const blind = blindFor(error);
      return { gpus: blind, health: checkHealth ? blind : { kind: 'off' } };
    });
    said.links = await smi.links(said.cards.gpus).catch(() => null);
  };
  const processes = async (): Promise<void> => {
    if (checkExternal) said.processes = await smi.processes().catch(blindFor);
  };
  const docker = async (): Promise<void> => {
    said.docker = await listBooks().catch(blindFor);
  };

  const soFar = (): Snapshot =>
    assemble(said, {
      cardStore,
      checkHealth,
      startedAtMs,
      endedAtMs: clock.now(),
      tookMs: deadline.took(),
      stuckRemovals,
      kernelLog: parts.kernelLog ?? NO_KERNEL_LOG,
      failedStarts: parts.failedStarts?.() ?? new Map(),
    });
  const look = async (): Promise<Snapshot> => {
    await inTime(Promise.all([gpus(), processes(), docker()]), limitMs, clock);
    const snapshot = soFar();
    attempt(log, () => cardStore.remember(snapshot.remembered));
    attempt(log, () => parts.onLook(snapshot));
    return snapshot;
  };
  return { done: look(), soFar, of };
}

/** A port must not throw; if one does, the look must be correct all the same. */
function mistake(error: unknown, log: Log, deadline: Deadline): Probed<never> {
  log.error({ err: error }, 'a probe threw, which is a bug in the gate; it counts as blind');
  return {
    kind: 'blind',
    why: 'unavailable',
    detail: `the probe failed: ${clean(String(error))}`,
    tookMs: deadline.took(),
  };
}

/** A list request that outlived its look is not joined by a second. */
function refuseOverlap(books: Pick<Books, 'list'>): Books['list'] {
  let running = false;
  return async () => {
    if (running)
      return {
        kind: 'blind',
        why: 'overlap',
        detail: 'the list request of an earlier look has not been answered yet',
        tookMs: 0,
      };
    running = true;
    try {
      return await books.list();
    } finally {
      running = false;
    }
  };
}

function attempt(log: Log, act: () => void): void {
  try {
    act();
  } catch (error) {
    log.error({ err: error }, 'a listener for looks threw, which is a bug in the gate; the look itself is complete');
  }
}
