/** `nvidia-smi` without a process: the stand-in's answer for a machine, computed at once. */

import type { Answer, ProcessSlot } from '../../src/probe/nvidia-smi/process-slot.js';
import { answer } from '../../src/stand-in/answer.js';
import type { Machine } from '../../src/stand-in/machine/machine.js';

/** Changes the output, as another wrapper, driver or day may. */
export type Retell = (
  stdout: string,
  args: readonly string[],
) => string | { readonly rc: number; readonly stdout: string };

const AS_IT_IS: Retell = (stdout) => stdout;

/**
 * A process slot that answers at once with every byte of the stand-in's output, which equals the real one's (verified by
 * test/stand-in/captures.test.ts). A run that hangs has timed out, and the next call finds it still running.
 */
export function replayedSlot(machine: () => Machine, retell: () => Retell = () => AS_IT_IS): ProcessSlot {
  let stuck = false;
  return {
    ask: async (args, timeoutMs): Promise<Answer> => {
      if (stuck) return { kind: 'overlap', pid: STUCK_PID, sinceMs: STUCK_SINCE_MS };
      const { steps, rc } = answer(machine(), args, new Date(0));
      if (steps.at(-1)?.kind === 'hang') {
        stuck = true;
        return {
          kind: 'ran_out',
          pid: STUCK_PID,
          afterMs: timeoutMs,
          ended: false,
          gone: new Promise(() => undefined),
        };
      }
      const stdout = steps.map((step) => (step.kind === 'print' ? step.text : '')).join('');
      const told = retell()(stdout, args);
      return { kind: 'exited', rc, stderr: '', ...(typeof told === 'string' ? { stdout: told } : told) };
    },
  };
}

const STUCK_PID = 4242;
const STUCK_SINCE_MS = Date.UTC(2026, 10, 29, 12);
