import { expect, test } from 'vitest';
import { cardAt, dropCard, healthyMachine } from '../../src/stand-in/machine/build-machine.js';
import { watchMachine } from './watched-machine.js';

/** Cards come and go on the bus: whoever is missing stays missing, whatever addresses the others have then. */

test('a card that dies stays missed when the addresses behind it move up', async () => {
  const watched = watchMachine(healthyMachine());
  const before = (await watched.look()).occupancy;
  const dead = cardAt(watched.machine, 3).uuid;
  dropCard(watched.machine, 3);
  for (let look = 0; look < 3; look += 1) {
    const { cards, counts } = (await watched.look()).occupancy;
    expect(cards).toHaveLength(8);
    expect(counts).toMatchObject({ free: 7, unhealthy: 1 });
    expect(cards.find(({ uuid }) => uuid === dead)?.unhealthy.map(({ reason }) => reason)).toEqual(['missing']);
  }
  expect(before.counts.free).toBe(8);
});

test('a new card in the place of a dead one replaces it', async () => {
  const watched = watchMachine(healthyMachine());
  await watched.look();
  cardAt(watched.machine, 3).uuid = 'GPU-0badcafe-0000-4000-8000-000000000001';
  const { cards, counts } = (await watched.look()).occupancy;
  expect(cards).toHaveLength(8);
  expect(counts.free).toBe(8);
});

test('two rows with one index are two cards', async () => {
  const watched = watchMachine(healthyMachine());
  cardAt(watched.machine, 4).columns = { index: '3' };
  const { cards, notes } = (await watched.look()).occupancy;
  expect(cards.map(({ index, state }) => `${index} ${state}`)).toEqual(
    [0, 1, 2, 3, 4, 5, 6, 7].map((at) => `${at} free`),
  );
  expect(new Set(cards.map(({ uuid }) => uuid)).size).toBe(8);
  expect(notes.join()).toContain('the index 3');
});

test('a warning among the rows costs nothing and is told', async () => {
  const watched = watchMachine(healthyMachine());
  watched.retell = (stdout) => `${stdout}WARNING: infoROM is corrupted at gpu 0000:02:00.0\n`;
  const { counts, notes, probes } = (await watched.look()).occupancy;
  expect(counts.free).toBe(8);
  expect(notes).toEqual(['nvidia-smi also says: WARNING: infoROM is corrupted at gpu 0000:02:00.0']);
  expect(probes.gpus.state).toBe('ok');
});
