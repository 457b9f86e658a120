/** `gpu-gate serve`: reads the settings and runs the gate, or prints everything that is wrong with them. */

import { readSettings } from '../settings/settings.js';

/** Runs until a signal ends it. With invalid settings, prints every problem and sets exit code 2. */
export async function serve(flags: readonly string[]): Promise<void> {
  const read = readSettings(process.env, flags, { terminal: process.stderr.isTTY });
  if (read.kind === 'problems') {
    const lines = read.problems.map((problem) => `  ${problem}\n`).join('');
    process.stderr.write(
      `gpu-gate: these settings cannot be used:\n${lines}\`gpu-gate serve --help\` shows them all.\n`,
    );
    process.exitCode = 2;
    return;
  }
  const { runGate } = await import('../main.js');
  await runGate(read.settings, read.warnings);
}
