/** `gpu-gate demo`: the whole gate on a machine without cards and Docker, to look at and try. */

import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endJobsNow } from '../runtime/process/end-jobs.js';
import { readSettings } from '../settings/settings.js';
import { pause } from '../time/pause.js';
import { systemClock } from '../time/system-clock.js';
import { runDemoJobs } from './demo-jobs.js';
import { demoKernelLog, demoMachine, type Busy } from './demo-machine.js';
import { newToken } from './token.js';

const FIRST_PORT = 9840;
/** How many ports to try from the given one on. */
const PORTS = 100;
const ANSWERS_WITHIN_MS = 20_000;

/** Runs until a signal ends it, and leaves no files or jobs behind. */
export async function demo(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gpu-gate-demo-'));
  const claims = join(folder, 'claims');
  const clearAway = (): void => {
    endJobsNow(claims);
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  };
  process.once('exit', clearAway);
  // Closing the terminal ends the demonstration too.
  process.once('SIGHUP', () => process.kill(process.pid, 'SIGTERM'));
  const untilThen = endEarly(clearAway);

  const port = await freePort(FIRST_PORT);
  if (port === null) {
    process.stderr.write(`gpu-gate demo: no port from ${FIRST_PORT} to ${FIRST_PORT + PORTS - 1} is free\n`);
    process.exitCode = 1;
    return;
  }
  const token = newToken('demo', 'admit,release,operate,read');
  if (token.kind === 'refused') throw new Error(token.problems.join('; '));
  writeFileSync(join(folder, 'tokens'), `${token.line}\n`, { mode: 0o600 });
  const machine = join(folder, 'machine.json');
  const play = (busy: readonly Busy[]): void => replace(machine, JSON.stringify(demoMachine(busy)));
  play([]);
  process.env['STAND_IN_MACHINE'] = machine;
  const kernelLog = join(folder, 'kmsg');
  writeFileSync(kernelLog, demoKernelLog());

  const settings = readSettings(
    {
      TUNEPLANE_LISTEN: `127.0.0.1:${port}`,
      TUNEPLANE_TOKENS_FILE: join(folder, 'tokens'),
      TUNEPLANE_AUDIT_FILE: join(folder, 'audit.jsonl'),
      TUNEPLANE_METRICS_HOLDERS: 'true',
      TUNEPLANE_RUNTIME: 'process',
      TUNEPLANE_STATE_DIR: join(folder, 'state'),
      TUNEPLANE_CLAIMS_DIR: claims,
      TUNEPLANE_NVIDIA_SMI: standIn(folder),
      TUNEPLANE_KERNEL_LOG: kernelLog,
      TUNEPLANE_DRAIN_TIMEOUT_S: '5',
      TUNEPLANE_LOG_LEVEL: 'error',
      TUNEPLANE_LOG_FORMAT: 'pretty',
    },
    [],
    { terminal: true },
  );
  if (settings.kind === 'problems') throw new Error(settings.problems.join('; '));
  const { runGate } = await import('../main.js');
  const running = runGate(settings.settings, settings.warnings);
  const url = `http://127.0.0.1:${port}`;
  await untilItAnswers(url);
  untilThen();
  process.stdout.write(welcome(url, token.token, folder));
  void runDemoJobs({ url, token: token.token, onBusy: play, say: (line) => void process.stdout.write(`  ${line}\n`) });
  await running;
}

/** Handles signals until the gate itself does. Returns the function that removes the handlers. */
function endEarly(clearAway: () => void): () => void {
  const end = (signal: NodeJS.Signals): void => {
    clearAway();
    takeBack();
    process.kill(process.pid, signal);
  };
  const takeBack = (): void => void process.off('SIGINT', end).off('SIGTERM', end);
  process.on('SIGINT', end).on('SIGTERM', end);
  return takeBack;
}

function welcome(url: string, token: string, folder: string): string {
  const job = JSON.stringify({ run_id: 'mine', count: 1, container: { command: ['sleep', '60'] } });
  return `
THE CARDS BELOW ARE NOT REAL. A stand-in for nvidia-smi plays eight H100s: card 5 is used from outside, card 6
is unhealthy (an Xid in the kernel's log), and the run "notebook" holds a card without using it. Jobs are real:
plain processes of your user (they sleep), started by the gate's process runtime.

  page      ${url}/
  metrics   ${url}/metrics
  contract  ${url}/openapi.json
  token     ${token}
  output    ${folder}/claims/tuneplane-<run_id>/*.output

Admit a job of your own for a minute, and see who has which card:

  curl -s ${url}/admit -H 'authorization: Bearer ${token}' -H 'content-type: application/json' -d '${job}'
  curl -s ${url}/cards -H 'authorization: Bearer ${token}'

Ctrl-C ends the gate and all of its jobs, and removes its files. Meanwhile jobs come and go:

`;
}

/** A script of its own, so that it runs whatever PATH contains and however the package was unpacked. */
function standIn(folder: string): string {
  const program = fileURLToPath(new URL('../stand-in/nvidia-smi.js', import.meta.url));
  const place = join(folder, 'nvidia-smi');
  writeFileSync(place, `#!/bin/sh\nexec ${quoted(process.execPath)} ${quoted(program)} "$@"\n`, { mode: 0o700 });
  return place;
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** Replaced atomically: a process of the stand-in may be reading it now. */
function replace(file: string, text: string): void {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

/** The first free port from the given one on, on loopback; null where none is free. */
async function freePort(from: number): Promise<number | null> {
  for (let port = from; port < from + PORTS; port++) if (await isFree(port)) return port;
  return null;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** If the gate cannot answer, it prints why and ends the process itself. */
async function untilItAnswers(url: string): Promise<void> {
  for (const until = Date.now() + ANSWERS_WITHIN_MS; Date.now() < until; await pause(50, systemClock)) {
    const answered = await fetch(`${url}/healthz`).catch(() => null);
    if (answered?.ok === true) return;
  }
}
