import { createDockerBooks } from '../../src/runtime/docker/books.js';
import { createDockerHands } from '../../src/runtime/docker/hands.js';
import { quietLog } from '../support/admissions.js';
import type { EngineUnderTest } from './engine-contract.js';
import { engineClient } from './engine/client.js';
import { createEngine } from './engine/engine.js';
import { chanceOf } from './process/chance.js';
import { plainFate } from './process/fates.js';
import { createLife } from './process/life.js';
import { createServer } from './process/server.js';
import { createTimeline, type Timeline } from './process/timeline.js';
import { createWire } from './process/wire.js';

const WALL_MS = Date.UTC(2026, 10, 29, 12);

/** The engine in memory with the product's own books and hands, on a timeline that follows real time. */
export function modelUnderTest(): EngineUnderTest {
  const timeline = createTimeline();
  const held: (() => void)[] = [];
  let holds = false;
  const engine = createEngine({
    timeline,
    wall: () => WALL_MS + timeline.now,
    jobMs: () => Number.POSITIVE_INFINITY,
    hook: (goOn) => (holds ? void held.push(goOn) : goOn()),
    watch: { created() {}, started() {}, ended() {}, removed() {} },
  });
  const { store } = engine;
  const life = createLife({
    name: 'a1',
    gate: 'a',
    timeline,
    wall: () => WALL_MS + timeline.now,
    touched: () => {},
    timersFirst: () => true,
    told: () => {},
  });
  const wire = createWire({
    name: 'engine',
    server: createServer(timeline),
    timeline,
    fates: (call) => plainFate(chanceOf(1)(call)),
    onMishap: () => {},
    told: { sent() {}, came() {} },
  });
  const docker = engineClient({ engine, wire, life, by: 'a1', onSend: () => {}, onTold: () => {} });
  const parts = { docker, clock: life.clock, log: quietLog };
  const stop = followRealTime(timeline);
  return {
    books: createDockerBooks(parts),
    hands: createDockerHands({
      ...parts,
      findAuth: async () => ({ kind: 'anonymous' }),
      lockedMemory: async () => -1,
    }),
    image: 'any',
    starts: (id) => store.find(id)?.starts ?? 0,
    async end(id) {
      const container = store.find(id);
      if (container !== undefined) store.finish(container, 0);
    },
    async rename(id, name) {
      const container = store.find(id);
      if (container !== undefined) store.rename(container, name);
    },
    startByHand: async (id) => void (await docker.getContainer(id).start()),
    prune: async () => engine.prune('somebody'),
    restart: async () => engine.restart(true),
    holdStarts() {
      holds = true;
      return {
        letGo() {
          holds = false;
          for (const goOn of held.splice(0)) goOn();
        },
      };
    },
    stop: async () => stop(),
  };
}

function followRealTime(timeline: Timeline): () => void {
  const began = performance.now();
  const ticking = setInterval(() => {
    while (timeline.step(performance.now() - began));
  }, 1);
  return () => clearInterval(ticking);
}
