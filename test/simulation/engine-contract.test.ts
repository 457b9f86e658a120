import { createDockerBooks } from '../../src/runtime/docker/books.js';
import { createDockerHands } from '../../src/runtime/docker/hands.js';
import { systemClock } from '../../src/time/system-clock.js';
import { quietLog } from '../support/admissions.js';
import { startEngine, type Engine } from '../support/docker/engine.js';
import { fakeRuntime } from '../support/fake-runtime.js';
import { engineContract, type EngineUnderTest } from './engine-contract.js';
import { modelUnderTest } from './model-under-test.js';

engineContract("the simulation's model", async () => modelUnderTest());
engineContract('the runtime fake', async () => fakeUnderTest());
engineContract('a Docker Engine', async () => realUnderTest(await startEngine()));

function fakeUnderTest(): EngineUnderTest {
  const fake = fakeRuntime();
  return {
    books: fake,
    hands: fake,
    image: 'any',
    starts: (id) => fake.started.filter((one) => one === id).length,
    end: async (id) => fake.end(id),
    rename: async (id, name) => fake.rename(id, name),
    startByHand: async (id) => void (await fake.start(id)),
    prune: async () => fake.prune(),
    restart: async () => fake.restart(),
    holdStarts() {
      let letGo = (): void => {};
      const held = new Promise<null>((resolve) => (letGo = () => resolve(null)));
      fake.onStart = () => held;
      return {
        letGo() {
          fake.onStart = null;
          letGo();
        },
      };
    },
    stop: async () => {},
  };
}

async function realUnderTest(engine: Engine): Promise<EngineUnderTest> {
  const { docker } = engine;
  const counted = await countStarts(engine);
  const parts = { docker, clock: systemClock, log: quietLog };
  return {
    books: createDockerBooks(parts),
    hands: createDockerHands({ ...parts, findAuth: async () => ({ kind: 'anonymous' }) }),
    image: engine.image,
    starts: (id) => counted.get(id) ?? 0,
    end: async (id) => void (await docker.getContainer(id).kill()),
    startByHand: async (id) => void (await docker.getContainer(id).start()),
    rename: async (id, name) => void (await docker.getContainer(id).rename({ name })),
    prune: async () => void (await docker.pruneContainers()),
    async restart() {
      await engine.restart();
      await countStarts(engine, counted);
    },
    holdStarts() {
      engine.hook('hang');
      return { letGo: () => engine.hook('pass') };
    },
    stop: () => engine.stop(),
  };
}

/** By the engine's own events; the stream ends with the engine. */
async function countStarts({ docker }: Engine, counts = new Map<string, number>()): Promise<Map<string, number>> {
  const stream = await docker.getEvents({ filters: { type: ['container'], event: ['start'] } });
  stream.on('error', () => {});
  stream.on('data', (chunk: Buffer) => {
    for (const line of chunk.toString().trim().split('\n')) {
      const { id } = JSON.parse(line) as { readonly id: string };
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
  });
  return counts;
}
