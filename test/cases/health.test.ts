import { describe, expect, test } from 'vitest';
import { watchMachine } from '../matrix/watched-machine.js';
import { by } from '../support/metrics-page.js';
import { cardAt, machineWith, pageOf, statesOf, uuidOf, wouldGet } from './cards-of.js';
import { listedContainers } from './listed-containers.js';

/** Cards that were ill or swapped, and nobody saw it. */

// H01, https://github.com/utkuozdemir/nvidia_gpu_exporter/issues/393
describe('on a box of 16 one idle card was stuck at 93 % and asked for a reset; no exported metric showed it', () => {
  const box = () =>
    machineWith(Array.from({ length: 16 }, (_, index) => ({ uuid: uuidOf(0x80 + index), memory_used_mib: 1 })));
  const FREE = Array.from({ length: 16 }, (_, index) => index).filter((index) => index !== 14);

  test.each(['Reset', 'Reboot', 'Drain P2P', 'Drain and Reset', 'A word of next year'])(
    'the recovery action %j takes the card out, and no other',
    async (recovery_action) => {
      const machine = box();
      Object.assign(machine.cards[14] ?? {}, { recovery_action, utilization_percent: 93, temperature_c: 68 });
      const look = await watchMachine(machine).look();
      expect(cardAt(look, 14)).toMatchObject({
        state: 'unhealthy',
        unhealthy: [{ reason: 'recovery_action', detail: `the driver asks for: ${recovery_action}` }],
      });
      const series = `tuneplane_gpu_card_unhealthy{index="14",reason="recovery_action",uuid="${uuidOf(0x8e)}"}`;
      expect(pageOf(look).get(series)).toBe(1);
      expect(by(pageOf(look), 'tuneplane_gpu_cards', 'state')).toMatchObject({ free: 15, unhealthy: 1 });
      // In order of numbers, not of letters: 2 comes before 10.
      expect(look.occupancy.cards.map(({ index }) => index)).toEqual(Array.from({ length: 16 }, (_, index) => index));
      expect(wouldGet(look, 15)).toEqual(FREE);
      // Neighbours by number, and out of the eight that are not whole any more.
      expect(wouldGet(look, 3)).toEqual([8, 9, 10]);
      expect(wouldGet(look, 16)).toBe('unhealthy');
    },
  );

  test('once the driver says None again it is free, without a restart of the gate', async () => {
    const watched = watchMachine(box());
    Object.assign(watched.machine.cards[14] ?? {}, { recovery_action: 'Reset' });
    expect(cardAt(await watched.look(), 14).state).toBe('unhealthy');
    watched.machine = box();
    const look = await watched.look();
    expect(cardAt(look, 14)).toMatchObject({ state: 'free', unhealthy: [], health: { recovery_action: false } });
    const series = `tuneplane_gpu_card_unhealthy{index="14",reason="recovery_action",uuid="${uuidOf(0x8e)}"}`;
    expect(pageOf(look).get(series)).toBe(0);
    expect(wouldGet(look, 16)).toHaveLength(16);
  });
});

// H04, https://github.com/truenas/middleware/pull/19499
test('a card was swapped in its slot: the container of the old uuid keeps restarting and must not hold the new card', async () => {
  const [oldUuid, newUuid] = [uuidOf(0xd0), uuidOf(0xd9)];
  const watched = watchMachine(machineWith([{ uuid: oldUuid }]));
  await watched.look();
  const { books } = await listedContainers([
    {
      id: 'old',
      state: 'restarting',
      labels: { 'tuneplane.run_id': 'old', 'tuneplane.gpus': '0', 'tuneplane.gpu-uuids': oldUuid },
      host: { DeviceRequests: [{ Driver: 'nvidia', DeviceIDs: [oldUuid] }] },
    },
  ]);
  watched.machine = machineWith([{ uuid: newUuid }]);
  watched.books = books;
  const look = await watched.look();
  // One card: the old one is not missed, another is in its place.
  expect(statesOf(look)).toBe('free');
  expect(cardAt(look, 0)).toMatchObject({ uuid: newUuid, claims: [] });
  expect(wouldGet(look, 1)).toEqual([0]);
  expect(look.occupancy.notes).toEqual([`container old (restarting) claims ${oldUuid}, which is not here`]);
  expect(look.occupancy.explain).toContain('Container old (restarting) claims');
});
