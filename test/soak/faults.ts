/** Faults around a gate. Each one is repaired before the next begins. */

import { setTimeout as sleep } from 'node:timers/promises';
import { cardAt, defaultMachine } from '../../src/stand-in/machine/build-machine.js';
import type { Engine } from '../support/docker/engine.js';
import type { TestRedis } from '../support/services/redis.js';
import { LIMITS, type Party } from './party.js';
import type { Dice } from './random.js';

export interface FaultParts {
  readonly party: Party;
  readonly engine: Engine;
  readonly redis: TestRedis;
  readonly dice: Dice;
}

type Fault = (parts: FaultParts) => Promise<void>;

/** The name of each fault with its relative frequency. */
const FAULTS: readonly (readonly [name: string, weight: number, Fault])[] = [
  ['gate killed', 6, async ({ party, dice }) => party.killAndRestart(dice.between(0, 2), dice.between(50, 1500))],
  ['gate frozen past its lease', 3, async ({ party, dice }) => party.freeze(dice.between(0, 2), LIMITS.leaseMs + 1000)],
  [
    'Redis killed and restarted empty',
    3,
    async ({ redis, dice }) => {
      await redis.kill();
      await sleep(dice.between(100, 2500));
      await redis.restart();
    },
  ],
  [
    'Redis stopped',
    3,
    async ({ redis, dice }) => {
      redis.pause();
      await sleep(dice.between(300, LIMITS.leaseMs + 1500));
      redis.resume();
    },
  ],
  ['Redis emptied', 3, async ({ redis }) => void (await redis.client().flushall())],
  ['engine restarted', 1, async ({ engine }) => engine.restart()],
  [
    'engine killed',
    1,
    async ({ engine, dice }) => {
      await engine.kill();
      await sleep(dice.between(100, 1500));
      await engine.restart();
    },
  ],
  [
    'engine hung',
    2,
    async ({ engine, dice }) => {
      engine.pause();
      await sleep(dice.between(300, 2500));
      engine.resume();
    },
  ],
  [
    'nvidia-smi hangs',
    2,
    withMachine((machine) => {
      machine.hang = { at: 'init' };
    }),
  ],
  [
    'a card is lost',
    2,
    withMachine((machine, dice) => {
      cardAt(machine, dice.between(0, 7)).fault = { kind: 'handle', error: 'lost' };
    }),
  ],
  [
    'a card is gone from the bus',
    2,
    withMachine((machine, dice) => {
      cardAt(machine, dice.between(0, 7)).fault = { kind: 'gone' };
    }),
  ],
  [
    'nvidia-smi lies about a card',
    2,
    withMachine((machine, dice) => {
      cardAt(machine, dice.between(0, 7)).recovery_action = dice.one(['Reset', 'None', 'Drain P2P']);
      cardAt(machine, dice.between(0, 7)).memory_used_mib = 40_000;
    }),
  ],
];

/** One fault after another with a pause between, until `going` returns false. Counts each kind in `counts`. */
export async function faults(parts: FaultParts, going: () => boolean, counts: Record<string, number>): Promise<void> {
  const bag = FAULTS.flatMap(([name, weight, fault]) => Array.from({ length: weight }, () => [name, fault] as const));
  while (going()) {
    const [name, fault] = parts.dice.one(bag);
    counts[name] = (counts[name] ?? 0) + 1;
    await fault(parts).catch((error: unknown) => {
      throw new Error(`the fault "${name}" could not be made good again`, { cause: error });
    });
    await sleep(parts.dice.between(200, 2000));
  }
}

function withMachine(spoil: (machine: ReturnType<typeof defaultMachine>, dice: Dice) => void): Fault {
  return async ({ party, dice }) => {
    const machine = defaultMachine();
    spoil(machine, dice);
    party.setMachine(machine);
    await sleep(dice.between(500, 3500));
    party.setMachine(defaultMachine());
  };
}
