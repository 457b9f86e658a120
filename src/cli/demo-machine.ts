/**
 * The simulated machine of the demonstration: eight cards, of which one is faulty, one is used from outside, and some are
 * busy.
 */

import { healthyMachine, cardAt, putLoad } from '../stand-in/machine/build-machine.js';
import { createKernelLines } from '../stand-in/machine/kernel-lines.js';
import type { Machine } from '../stand-in/machine/machine.js';

/** A job of the demonstration that keeps its cards busy now. */
export interface Busy {
  readonly runId: string;
  readonly gpus: readonly number[];
}

/** Card 5 is used from outside, card 6 needs a reset (its Xid is in the kernel's log); the cards of busy jobs are warm and their memory is in use. */
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

/** The kernel's log of that machine: card 6 lost its system processor, and a program on card 5 made a mistake. */
export function demoKernelLog(): string {
  const machine = healthyMachine();
  const lines = createKernelLines();
  return [
    lines.driverLoaded(machine.driver),
    lines.xid(cardAt(machine, 5), 31, 'pid=4242, name=python, Ch 00000010, MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_0'),
    lines.xid(
      cardAt(machine, 6),
      119,
      'pid=1, name=nvidia-smi, Timeout after 6s of waiting for RPC response from GPU6 GSP!',
    ),
  ].join('');
}
