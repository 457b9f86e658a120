/** The common start and end of every command that queries a gate: prints what is wrong and sets the exit code. */

import { EXIT } from '../terminal/exit-codes.js';
import { complain } from '../terminal/say.js';
import { findGate, type Gate, type GateOptions } from './ask-gate.js';
import type { Failure } from './problem-words.js';

/** The gate's client; null where the options are invalid, which has been printed. */
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
