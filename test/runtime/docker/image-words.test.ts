import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Grant } from '../../../src/model/admission.js';
import { cardIndex } from '../../../src/model/card.js';
import { createDockerBooks } from '../../../src/runtime/docker/books.js';
import { createDockerHands } from '../../../src/runtime/docker/hands.js';
import { systemClock as clock } from '../../../src/time/system-clock.js';
import { startEngine, type Engine } from '../../support/docker/engine.js';
import { grantOf, job, listeningLog, plainRequest, uuidOf } from '../../support/jobs.js';

/** An image brings labels and variables of its own, which Docker puts beside those that a container is created with. */

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
}, 60_000);
afterAll(() => engine.stop());

const hands = () => {
  const findAuth = async () => ({ kind: 'anonymous' }) as const;
  return createDockerHands({ docker: engine.docker, clock, log: listeningLog(), findAuth });
};
const asked = { ulimits: { memlock: 65_536 }, command: ['sleep', '600'] };

test('no label of an image is read as one of ours, not even after an admission that saw no uuid', async () => {
  const ours = [
    'run_id',
    'gpu-uuids',
    'gpus',
    'spec-sha256',
    'admitted-by',
    'admitted-at',
    'principal',
    'life',
    'delegate',
  ];
  const image = await imageWith(
    'labels',
    ours.map((name) => `LABEL tuneplane.${name}=${name === 'gpu-uuids' ? uuidOf(7) : '7'}`),
  );
  const blind: Grant = { ...grantOf(), cards: [{ index: cardIndex(0), uuid: null, name: null }] };
  const created = await hands().create(job('blind', plainRequest(image, asked), 1), blind);
  if (created.kind !== 'created') throw new Error(JSON.stringify(created));

  const books = createDockerBooks({ docker: engine.docker, clock, log: listeningLog(), listTimeoutMs: 5000 });
  const listed = await books.list();
  const claims = listed.kind === 'seen' ? listed.value.containers.map(({ claim }) => claim) : [];
  expect(claims).toMatchObject([{ uuids: [], indices: [0], unread: [] }]);
  const { Labels: labels } = (await engine.docker.getContainer(created.id).inspect()).Config;
  expect(labels).toMatchObject({ 'tuneplane.gpu-uuids': '', 'tuneplane.delegate': '', 'tuneplane.life': 'life-1' });
  expect(Object.values(labels)).not.toContain('7');
});

test('of the environment of an image, what chooses cards is not taken over, and the rest is', async () => {
  const hidden = {
    NVIDIA_VISIBLE_DEVICES: 'all',
    NVIDIA_MIG_CONFIG_DEVICES: 'all',
    NVIDIA_MIG_OF_TOMORROW: 'all',
    NVIDIA_IMEX_CHANNELS: '0',
    CUDA_VISIBLE_DEVICES: '0,1,2',
  };
  const kept = {
    NVIDIA_DRIVER_CAPABILITIES: 'compute,utility',
    LD_LIBRARY_PATH: '/usr/local/nvidia/lib',
    CUDA_VERSION: '12.4',
  };
  const image = await imageWith(
    'cuda',
    Object.entries({ ...hidden, ...kept }).map(([name, value]) => `ENV ${name}=${value}`),
  );
  const { ensureImage, create, start } = hands();
  expect(await ensureImage(image, 1000)).toEqual({ kind: 'present' });
  for (const [runId, grant, cards] of [
    ['two', grantOf(1, 3), `${uuidOf(1)},${uuidOf(3)}`],
    ['none', grantOf(), 'void'],
  ] as const) {
    const created = await create(job(runId, plainRequest(image, asked), grant.cards.length), grant);
    if (created.kind !== 'created') throw new Error(JSON.stringify(created));
    expect(await start(created.id)).toEqual({ kind: 'started' });
    const environment = await engine.environOf(created.id);
    expect(environment).toMatchObject({ ...kept, NVIDIA_VISIBLE_DEVICES: cards, CUDA_DEVICE_ORDER: 'PCI_BUS_ID' });
    expect(Object.keys(environment).filter((name) => /MIG|IMEX|CUDA_VISIBLE/.test(name))).toEqual([]);
  }
});

test.each([['LD_PRELOAD'], ['LD_AUDIT']])('an image that sets %s is refused by name', async (name) => {
  const image = await imageWith(name.toLowerCase(), [`ENV ${name}=/evil.so`]);
  expect(await hands().ensureImage(image, 1000)).toEqual({
    kind: 'refused',
    detail: `the image ${image} sets ${name} in its own environment, which no job may have`,
  });
});

/** The test image with these lines of a Dockerfile on top. */
async function imageWith(name: string, lines: readonly string[]): Promise<string> {
  const container = await engine.docker.createContainer({ Image: engine.image, Cmd: ['true'] });
  await container.commit({ repo: name, tag: 'test', changes: lines.join('\n') });
  await container.remove();
  return `${name}:test`;
}
