/** Begins and ends every command that asks a gate: what is wrong is said, and the exit code set. */

import { findGate, type Gate, type GateOptions } from './ask-gate.js';
import { EXIT } from '../terminal/exit-codes.js';
import type { Failure } from './problem-words.js';
import { complain } from '../terminal/say.js';

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
