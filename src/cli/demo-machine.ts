/**
 * The simulated machine of the demonstration: eight cards, of which one is faulty, one is used from outside, and some are
 * busy.
 */

import { healthyMachine, cardAt, putLoad } from '../stand-in/machine/build-machine.js';
import type { Machine } from '../stand-in/machine/machine.js';

/** A job of the demonstration that keeps its cards busy now. */
export interface Busy {
  readonly runId: string;
  readonly gpus: readonly number[];
}

/** Card 5 is used from outside, card 6 needs a reset; the cards of busy jobs are warm and their memory is in use. */
export function demoMachine(busy: readonly Busy[]): Machine {
  const machine = healthyMachine({ islands: 2 });
  putLoad(cardAt(machine, 5), 3812, { pid: 4242, name: 'python', memory_mib: 3810 });
  cardAt(machine, 6).recovery_action = 'Reset';
  for (const { gpus } of busy) {
    for (const index of gpus) {
      const card = cardAt(machine, index);
      putLoad(card, 58_000 + index * 512, { pid: 50_000 + index, name: 'python', memory_mib: 57_500 + index * 512 });
      Object.assign(card, {
        utilization_percent: 93 + (index % 5),
        temperature_c: 58 + index,
        power_draw_w: 610 + index * 7,
        clock_reasons: [],
      });
    }
  }
  return machine;
}
