/**
 * Reads Docker's own lists all the time: what ran from when to when on which cards, by the engine's clock and device
 * requests.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type Docker from 'dockerode';

export interface Life {
  readonly id: string;
  readonly name: string;
  readonly uuids: readonly string[];
  /** Epoch milliseconds, with fractions; null while no start was seen. */
  startedAt: number | null;
  /** Null while no end was seen. For a container that was removed unseen: the last moment at which it was seen running. */
  endedAt: number | null;
  /** Epoch milliseconds of the start of the last list that showed it running. */
  seenRunningAt: number | null;
}

export interface Watcher {
  readonly lives: ReadonlyMap<string, Life>;
  /** Reads one container again, before it is removed. */
  note(id: string): Promise<void>;
  /** Sentences about containers that stayed `created` for too long. */
  stale(): readonly string[];
  /** Pairs of containers that lived on one card at the same time. */
  doubles(): readonly string[];
  readonly looks: number;
  stop(): Promise<void>;
}

const EVERY_MS = 60;

export function watch(docker: Docker, createdForAtMostMs: number): Watcher {
  const lives = new Map<string, Life>();
  const createdSince = new Map<string, number>();
  const stale = new Set<string>();
  let looks = 0;
  let going = true;

  async function note(id: string): Promise<void> {
    const seen = await docker.getContainer(id).inspect({ abortSignal: AbortSignal.timeout(3000) } as object);
    const { StartedAt, FinishedAt, Running } = seen.State;
    const life = lives.get(id) ?? {
      id,
      name: seen.Name,
      uuids: seen.HostConfig.DeviceRequests?.flatMap(({ DeviceIDs }) => DeviceIDs ?? []) ?? [],
      startedAt: null,
      endedAt: null,
      seenRunningAt: null,
    };
    life.startedAt = momentOf(StartedAt) ?? life.startedAt;
    life.endedAt = Running ? null : (momentOf(FinishedAt) ?? life.endedAt);
    lives.set(id, life);
  }

  async function look(): Promise<void> {
    const began = Date.now();
    const listed = await docker.listContainers({ all: true, abortSignal: AbortSignal.timeout(3000) });
    looks++;
    const created = new Set<string>();
    for (const { Id, State } of listed) {
      const life = lives.get(Id);
      if (life !== undefined && State === 'running') life.seenRunningAt = began;
      if (State === 'created') created.add(Id);
      const known =
        life !== undefined &&
        (State === 'created' ||
          (State === 'running' ? life.startedAt !== null && life.endedAt === null : life.endedAt !== null));
      if (!known) await note(Id).catch(() => {});
    }
    const there = new Set(listed.map(({ Id }) => Id));
    for (const life of lives.values()) {
      if (!there.has(life.id) && life.startedAt !== null) life.endedAt ??= life.seenRunningAt ?? life.startedAt;
    }
    for (const id of createdSince.keys()) if (!created.has(id)) createdSince.delete(id);
    for (const id of created) {
      const since = createdSince.get(id) ?? Date.now();
      createdSince.set(id, since);
      if (Date.now() - since > createdForAtMostMs) stale.add(`${lives.get(id)?.name ?? id} stayed created`);
    }
  }

  const watching = (async () => {
    while (going) {
      // An engine that is down or hangs shows nothing; its lists show afterwards what happened meanwhile.
      await look().catch(() => createdSince.clear());
      await sleep(EVERY_MS);
    }
  })();

  return {
    lives,
    note,
    stale: () => [...stale],
    doubles: () => doublesOf([...lives.values()]),
    get looks() {
      return looks;
    },
    async stop() {
      going = false;
      await watching;
      await look();
      for (const { id } of lives.values()) await note(id).catch(() => {});
    },
  };
}

function doublesOf(lives: readonly Life[]): string[] {
  const ran = lives.filter((life): life is Life & { startedAt: number } => life.startedAt !== null);
  return ran.flatMap((one, at) =>
    ran.slice(at + 1).flatMap((other) => {
      const card = one.uuids.find((uuid) => other.uuids.includes(uuid));
      if (card === undefined) return [];
      const together = Math.min(endOf(one), endOf(other)) - Math.max(one.startedAt, other.startedAt);
      return together > 0 ? [`${one.name} and ${other.name} on ${card} for ${Math.round(together)} ms`] : [];
    }),
  );
}

export function endOf(life: Life): number {
  return life.endedAt ?? Number.POSITIVE_INFINITY;
}

/** Docker's zero time means never. */
function momentOf(text: string): number | null {
  if (text.startsWith('0001-')) return null;
  const fraction = Number(/\.(\d+)/.exec(text)?.[1]?.padEnd(9, '0').slice(0, 9) ?? 0) / 1e6;
  return Math.floor(Date.parse(text) / 1000) * 1000 + fraction;
}
