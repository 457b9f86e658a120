import { describe, expect, test } from 'vitest';
import { createCreatedSince } from '../../src/runtime/created-since.js';
import { sweepLeftOvers } from '../../src/runtime/left-overs.js';
import { watchMachine } from '../matrix/watched-machine.js';
import { countingMeter, quietLog } from '../support/admissions.js';
import { by } from '../support/metrics-page.js';
import { cardAt, machineWith, pageOf, seriesOfCard, statesOf, uuidOf, wouldGet } from './cards-of.js';
import { listedContainers } from './listed-containers.js';

/** Containers that said more, or less, about cards than was true. */

// D01, https://github.com/moby/moby/issues/36321
describe('docker commit bakes a container’s labels into the image, and strangers run from it carry them', () => {
  const labels = (gpus: string) => ({
    'tuneplane.run_id': 'alice',
    'tuneplane.gpus': gpus,
    'tuneplane.spec-sha256': 'f'.repeat(64),
    'tuneplane.admitted-by': 'gate-a',
    'tuneplane.admitted-at': '2026-11-29T00:00:00.000Z',
    team: 'vision',
  });
  const given = { DeviceRequests: [{ Driver: 'nvidia', DeviceIDs: [uuidOf(0x152)] }] };
  const listed = [
    { id: 'aaa', labels: labels('2'), host: given },
    { id: 'bbb', labels: labels('2') },
    { id: 'ccc', labels: labels('5') },
  ];

  test('the card is held once and shows both claims; a copied claim holds its card too, and is seen', async () => {
    const cards = Array.from({ length: 6 }, (_, index) => ({ uuid: uuidOf(0x150 + index) }));
    const { books } = await listedContainers(listed);
    const look = await watchMachine(machineWith(cards), { books }).look();
    expect(statesOf(look)).toBe('free free job_held free free job_held');
    expect(by(pageOf(look), 'tuneplane_gpu_cards', 'state')).toMatchObject({ job_held: 2, free: 4 });
    expect(seriesOfCard(look, 'tuneplane_gpu_card_claims', 2)).toEqual([2]);
    expect(seriesOfCard(look, 'tuneplane_gpu_card_claims', 5)).toEqual([1]);
    expect(cardAt(look, 2).claims.map(({ container }) => container)).toEqual(['aaa', 'bbb']);
    // One series per run, though two containers carry the same one.
    expect(seriesOfCard(look, 'tuneplane_gpu_card_holder_info', 2)).toEqual([1]);
    expect(wouldGet(look, 4)).toEqual([0, 1, 3, 4]);
  });

  test('nothing is ever removed by copied labels alone', async () => {
    const created = listed.map((one) => ({ ...one, state: 'created' }));
    const { books } = await listedContainers(created);
    const removed: string[] = [];
    const swept = await sweepLeftOvers({
      books,
      hands: { remove: async (id) => (removed.push(id), { kind: 'removed' }) },
      createdSince: createCreatedSince({ monotonic: () => 0 }),
      standpoint: { instanceId: 'gate-a', alone: true, isUnderWay: () => false, isPastGrace: () => true },
      meter: countingMeter(),
      log: quietLog,
    });
    expect([swept, removed]).toEqual([[], []]);
  });
});

// D04, https://github.com/home-assistant/core/issues/167446
describe('paused containers keep their memory and were shown as off; a restart policy brings others back', () => {
  const cards = [{ memory_used_mib: 40_000 }, {}, {}];
  const claim = (gpus: string) => ({ 'tuneplane.gpus': gpus });
  const unlessStopped = { RestartPolicy: { Name: 'unless-stopped' } };

  test('paused and restarting ones hold their cards, an ended one does not', async () => {
    const { books, requests } = await listedContainers([
      { id: 'aaa', state: 'paused', labels: claim('0') },
      { id: 'bbb', state: 'restarting', labels: claim('1'), host: unlessStopped },
      { id: 'ccc', state: 'exited', labels: claim('2'), host: unlessStopped },
    ]);
    const look = await watchMachine(machineWith(cards), { books }).look();
    expect(statesOf(look)).toBe('job_held job_held free');
    // All of them are asked for, not those alone that run.
    expect(requests.find((line) => line.includes('/containers/json'))).toMatch(/all=(true|1)/);
    const asked = requests.find((line) => line.includes('status'));
    expect(decodeURIComponent(asked ?? '')).toContain('"created","running","paused","restarting","removing"');
  });

  test('one that is started by hand later is seen again, and so is its clash with a new holder', async () => {
    const books = await listedContainers([{ id: 'ccc', state: 'exited', labels: claim('2') }]);
    const watched = watchMachine(machineWith(cards), { books: books.books });
    expect(wouldGet(await watched.look(), 1)).not.toContain(0);
    books.list = [
      { id: 'ccc', state: 'running', labels: claim('2') },
      { id: 'new', state: 'running', labels: claim('2') },
    ];
    const look = await watched.look();
    expect(cardAt(look, 2)).toMatchObject({ state: 'job_held', claims: [{ container: 'ccc' }, { container: 'new' }] });
    expect(seriesOfCard(look, 'tuneplane_gpu_card_claims', 2)).toEqual([2]);
  });
});

// D06, https://github.com/docker/compose/issues/11863
test('Compose and Swarm replicas all carry the same labels and cards, and leave exited copies behind', async () => {
  const labels = (gpus: string) => ({ 'tuneplane.gpus': gpus, 'com.docker.compose.service': 'web' });
  const { books } = await listedContainers([
    { id: 'r1', labels: labels('0') },
    { id: 'r2', labels: labels('0') },
    { id: 'r3', state: 'exited', labels: labels('0') },
    { id: 'r4', state: 'exited', labels: labels('1') },
  ]);
  const look = await watchMachine(machineWith([{}, {}]), { books }).look();
  expect(statesOf(look)).toBe('job_held free');
  expect(cardAt(look, 0).claims.map(({ runId }) => runId)).toEqual(['r1', 'r2']);
  expect(seriesOfCard(look, 'tuneplane_gpu_card_claims', 0)).toEqual([2]);
  expect(seriesOfCard(look, 'tuneplane_gpu_card_claims', 1)).toEqual([0]);
  expect(by(pageOf(look), 'tuneplane_gpu_cards', 'state')).toMatchObject({ job_held: 1, free: 1 });
});

// D08, https://github.com/NVIDIA/nvidia-docker/issues/1471
test('containers reach cards without our labels: by an image’s environment, --gpus all, --privileged, CDI', async () => {
  const { books } = await listedContainers([
    { id: 'aaa', labels: null, host: { Runtime: 'nvidia' }, env: ['NVIDIA_VISIBLE_DEVICES=all'] },
    { id: 'bbb', labels: {}, host: { DeviceRequests: [{ Count: -1, Capabilities: [['gpu']] }] } },
    { id: 'ccc', labels: {}, host: { Privileged: true } },
    { id: 'ddd', labels: {}, host: { DeviceRequests: [{ Driver: 'cdi', DeviceIDs: ['nvidia.com/gpu=all'] }] } },
  ]);
  const look = await watchMachine(machineWith([{}, { memory_used_mib: 30_000 }]), { books }).look();
  expect(statesOf(look)).toBe('free external');
  expect(look.occupancy.counts.job_held).toBe(0);
  expect(look.occupancy.notes.slice(0, 4)).toEqual(
    ['aaa', 'bbb', 'ccc', 'ddd'].map((name) => `container ${name} can reach every card and is no job of ours`),
  );
  expect(look.occupancy.explain).toContain('Container bbb can reach every card');
  expect(wouldGet(look, 1)).toEqual([0]);
});
