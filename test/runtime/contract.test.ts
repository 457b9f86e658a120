import { createDockerBooks } from '../../src/runtime/docker/books.js';
import { createDockerHands } from '../../src/runtime/docker/hands.js';
import { systemClock } from '../../src/time/system-clock.js';
import { startEngine } from '../support/docker/engine.js';
import { fakeRuntime } from '../support/fake-runtime.js';
import { listeningLog } from '../support/jobs.js';
import { runtimeContract } from '../support/runtime-contract.js';

runtimeContract(
  'Docker',
  async () => {
    const engine = await startEngine();
    const parts = { docker: engine.docker, clock: systemClock, log: listeningLog() };
    return {
      books: createDockerBooks(parts),
      hands: createDockerHands({ ...parts, findAuth: async () => ({ kind: 'anonymous' }) }),
      image: engine.image,
      end: (id) => engine.docker.getContainer(id).kill(),
      stop: () => engine.stop(),
    };
  },
  // Docker knows of all that it started.
  null,
);

const fake = fakeRuntime();

runtimeContract(
  'the fake',
  async () => ({ books: fake, hands: fake, image: 'any', end: async (id) => fake.end(id), stop: async () => {} }),
  (id) => void fake.containers.set(id, { ...fake.containers.get(id)!, outOfReach: true }),
);
