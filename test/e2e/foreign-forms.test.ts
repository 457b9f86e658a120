import { afterAll, beforeAll, expect, test } from 'vitest';
import { cardAt, defaultMachine } from '../../src/stand-in/machine/build-machine.js';
import { startEngine, type Engine } from '../support/docker/engine.js';
import { startGate, type Gate } from '../support/gate.js';

/** Containers that others started, with cards given to them in each form that NVIDIA's runtime takes, on a real engine. */

const machine = defaultMachine();
const uuidOf = (index: number): string => cardAt(machine, index).uuid;

let engine: Engine;
let gate: Gate;
beforeAll(async () => {
  engine = await startEngine();
  gate = await startGate({ engine, machine, settings: { TUNEPLANE_SCRAPE_MAX_AGE_MS: '0' } });
});
afterAll(async () => {
  await gate?.stop();
  await engine?.stop();
});

const listed = (id: string) => ({
  Mounts: [{ Type: 'bind', Source: '/dev/null', Target: `/var/run/nvidia-container-devices/${id}` }],
});

// https://github.com/ROCm/container-toolkit/issues/43: cards that Swarm had given away were handed out.
test.each<[string, object, number[]]>([
  ['Swarm gave it a card', { Env: [`DOCKER_RESOURCE_GPU=${uuidOf(3)}`] }, [3]],
  [
    'Swarm gave it cards by shortened uuids',
    {
      Env: [
        `DOCKER_RESOURCE_NVIDIA-GPU=${uuidOf(0).slice(0, 12)},${uuidOf(7).slice(0, 12)}`,
        'NVIDIA_VISIBLE_DEVICES=all',
      ],
    },
    [0, 7],
  ],
  ['its environment names indices', { Env: ['NVIDIA_VISIBLE_DEVICES=2,5'] }, [2, 5]],
  ['its environment names CDI devices', { Env: ['NVIDIA_VISIBLE_DEVICES=nvidia.com/gpu=1'] }, [1]],
  ['mounts are its list of cards', { HostConfig: listed(uuidOf(4)) }, [4]],
  ['a mount names a CDI device', { HostConfig: listed('cdi/nvidia.com/gpu/6') }, [6]],
  ['it may reach all of them, as a monitoring agent', { Env: ['NVIDIA_VISIBLE_DEVICES=all'] }, []],
])('a container is seen on its cards where %s', async (_says, body, cards) => {
  const container = await engine.docker.createContainer({ Image: engine.image, Cmd: ['sleep', '600'], ...body });
  await container.start();
  const external = (await gate.cards()).cards.filter(({ state }) => state === 'external').map(({ index }) => index);
  await container.remove({ force: true });
  expect(external).toEqual(cards);
});
