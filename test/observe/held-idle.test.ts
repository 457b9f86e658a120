import { expect, test } from 'vitest';
import type { JudgedCard } from '../../src/model/occupancy.js';
import { watchHeldIdle } from '../../src/observe/held-idle.js';
import { card, claim, LOOK_AT_MS, watched } from '../metrics/occupancies.js';

const MINUTE = 60_000;
const idle: Partial<JudgedCard> = { state: 'job_held', claims: [claim('train-17')], processes: 0, utilization: 0 };

type Look = [minute: number, but: Partial<JudgedCard>, docker?: 'exit'];

/** For how many seconds the card is said to be idle, look after look. */
function idleSeconds(...looks: readonly Look[]): (number | null)[] {
  const watch = watchHeldIdle();
  return looks.map(([minute, but, docker]) => {
    const { snapshot, occupancy } = watched([card(0, but)], docker === undefined ? {} : { docker });
    const at = { ...snapshot, endedAtMs: LOOK_AT_MS + minute * MINUTE };
    return watch(at, occupancy).cards[0]?.heldIdleSeconds ?? null;
  });
}

test.each<[says: string, looks: Look[], seconds: (number | null)[]]>([
  [
    'counts from the first look that finds no use',
    [
      [0, idle],
      [10, idle],
      [70, idle],
    ],
    [0, 600, 4200],
  ],
  [
    'begins anew after use',
    [
      [0, idle],
      [10, { ...idle, utilization: 0.01 }],
      [20, idle],
      [30, idle],
    ],
    [0, 0, 0, 600],
  ],
  [
    'takes a process for use, whatever the utilisation',
    [
      [0, idle],
      [10, { ...idle, processes: 1 }],
    ],
    [0, 0],
  ],
  [
    'goes by the utilisation where the list is not to be had',
    [
      [0, { ...idle, processes: null }],
      [10, { ...idle, processes: null }],
    ],
    [0, 600],
  ],
  [
    'says nothing where the utilisation is not told, and goes on',
    [
      [0, idle],
      [10, { ...idle, utilization: null }],
      [20, idle],
    ],
    [0, null, 1200],
  ],
  [
    'begins anew with another job',
    [
      [0, idle],
      [10, { ...idle, claims: [claim('train-18')] }],
    ],
    [0, 0],
  ],
  [
    'says nothing of a card that nobody holds',
    [
      [0, idle],
      [10, { utilization: 0 }],
      [20, idle],
    ],
    [0, null, 0],
  ],
  [
    'goes on when the containers could not be listed meanwhile',
    [
      [0, idle],
      [10, { state: 'unknown' }, 'exit'],
      [20, idle],
    ],
    [0, null, 1200],
  ],
])('held and idle %s', (_says, looks, seconds) => expect(idleSeconds(...looks)).toEqual(seconds));
