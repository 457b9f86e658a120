/**
 * `npm test`: installs what the tests need, runs them, and leaves the machine as it was. Plain JavaScript, since it runs
 * before anything is compiled. Arguments go to vitest.
 */
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { clearAway, ROOT_VARIABLE } from './left-overs.mjs';
import { bringNeeds } from './needs.mjs';

const stillMissing = bringNeeds();
if (stillMissing !== null) {
  console.error(stillMissing);
  process.exit(1);
}

const root = mkdtempSync(join(tmpdir(), 'gpu-gate-'));
// Some tests run a part as another user, who needs access to this folder.
chmodSync(root, 0o755);
const status = await runVitest(process.argv.slice(2));
const leftBehind = await clearAway(root);
// A run that was ended by a signal could not end its own processes.
if (leftBehind.length > 0 && status < 128) {
  console.error(
    `The tests left behind, and it was cleared away now:\n${leftBehind.map((each) => `  ${each}\n`).join('')}`,
  );
}
process.exitCode = status === 0 && leftBehind.length > 0 ? 1 : status;

/**
 * Runs vitest below a temporary folder of its own and forwards signals. The exit status follows the shell's convention: 128
 * plus the signal's number for a run that was ended by one.
 *
 * @param {readonly string[]} args
 * @returns {Promise<number>}
 */
function runVitest(args) {
  const vitest = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...args], {
    stdio: 'inherit',
    env: testEnvironment(),
  });
  const signals = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);
  for (const signal of signals) {
    process.on(signal, () => {
      vitest.kill(signal);
      setTimeout(() => vitest.kill('SIGKILL'), 10_000).unref();
    });
  }
  return new Promise((resolve, reject) => {
    vitest.once('error', reject);
    vitest.once('exit', (code, signal) => resolve(signal === null ? (code ?? 1) : 128 + constants.signals[signal]));
  });
}

/**
 * The tests choose their own engine, Redis and settings: this shell's variables for the machine's own must not reach them.
 */
function testEnvironment() {
  const foreign = /^(TUNEPLANE_|DOCKER_|REDIS|STAND_IN_)/;
  const kept = Object.entries(process.env).filter(([name]) => !foreign.test(name));
  const path = `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`;
  return { ...Object.fromEntries(kept), PATH: path, TMPDIR: root, [ROOT_VARIABLE]: root };
}
