/** Begins and ends every command that asks a gate: what is wrong is said, and the exit code set. */

import { EXIT } from '../terminal/exit-codes.js';
import { complain } from '../terminal/say.js';
import { findGate, type Gate, type GateOptions } from './ask-gate.js';
import type { Failure } from './problem-words.js';

/** The gate to ask; null where what was given leads to none, which has been said. */
export function reachGate(options: GateOptions): Gate | null {
  const found = findGate(options, process.env);
  if (found.kind === 'problem') {
    complain(found.detail);
    process.exitCode = EXIT.usage;
    return null;
  }
  complain(...found.warnings);
  return found.gate;
}

export function fail({ lines, exit }: Failure): void {
  complain(...lines);
  process.exitCode = exit;
}
