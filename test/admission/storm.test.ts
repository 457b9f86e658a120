/**
 * Rivals without any lock over one runtime, in an order that a seed shuffles: repeated run ids, gates that die between create and
 * start, sweeps at bad moments. The protocol alone must keep two live jobs off one card.
 */

import { expect, test } from 'vitest';
import { holds } from '../../src/model/snapshot.js';
import { sweepLeftOvers } from '../../src/runtime/left-overs.js';
import { console_, countingMeter, jobSpec, nobodyGone, quietLog, testDesk } from '../support/admissions.js';
import { fakeRuntime, type FakeRuntime } from '../support/fake-runtime.js';

const SEEDS = Array.from({ length: 60 }, (_, seed) => seed + 1);

test.concurrent.each(SEEDS)(
  'seed %i: never two started containers on one card, and nothing is left over',
  async (seed) => {
    const random = seeded(seed);
    const runtime = fakeRuntime(async () => {
      for (let beats = Math.floor(random() * 4); beats > 0; beats--)
        await new Promise((resolve) => setImmediate(resolve));
    });
    const offences = watchStarts(runtime);
    const desks = ['gate-a', 'gate-b', 'gate-c'].map((instanceId) =>
      testDesk(runtime, { cards: 4, random, settings: { instanceId, life: instanceId, admitTimeoutMs: 20_000 } }),
    );
    const dead = Math.floor(random() * 3);
    killBetweenCreateAndStart(runtime, random);

    const asks = Array.from({ length: 10 }, async (_, at) => {
      const desk = desks[Math.floor(random() * 3)]!;
      const runId = `run-${at % 6}`;
      return desk.admit(jobSpec(runId, 1 + ((at % 6) % 2)), console_, nobodyGone()).catch(() => null);
    });
    const sweeping = sweepLeftOvers({
      books: runtime,
      hands: runtime,
      createdSince: desks[dead]!.createdSince,
      standpoint: desks[dead]!.standpoint,
      meter: countingMeter(),
      log: quietLog,
    });
    const decisions = await Promise.all(asks);
    await sweeping;

    expect(offences).toEqual([]);
    for (const decision of decisions) {
      if (decision?.kind !== 'admitted') continue;
      expect(runtime.containers.get(decision.run.containerId)?.state).toBe('running');
    }
    const live = [...runtime.containers.values()].filter(({ state }) => holds(state));
    const cards = live.filter(({ state }) => state === 'running').flatMap(({ claim }) => claim!.uuids);
    expect(new Set(cards).size).toBe(cards.length);
  },
);

/** Notes every start of a container on a card that another running container holds. */
function watchStarts(runtime: FakeRuntime): string[] {
  const offences: string[] = [];
  const start = runtime.start.bind(runtime);
  runtime.start = async (id) => {
    const answer = await start(id);
    const own = runtime.containers.get(id);
    for (const other of runtime.containers.values()) {
      if (!own || other.id === id || other.state !== 'running' || own.state !== 'running') continue;
      if (other.claim!.uuids.some((uuid) => own.claim!.uuids.includes(uuid)))
        offences.push(`${own.name} and ${other.name}`);
    }
    return answer;
  };
  return offences;
}

/** Now and then a gate "dies": the start is never sent, and whoever asked gets no answer. */
function killBetweenCreateAndStart(runtime: FakeRuntime, random: () => number): void {
  runtime.onStart = () => {
    if (random() < 0.1) throw new Error('killed');
    return null;
  };
}

function seeded(seed: number): () => number {
  let state = seed * 2654435761;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
