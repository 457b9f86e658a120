/** How long a scrape takes, compared with the programs that it waits for. */

import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { defaultMachine } from '../../src/stand-in/machine/build-machine.js';
import type { Engine } from '../support/docker/engine.js';
import { startGate, type Gate } from '../support/gate.js';
import { freePort } from '../support/services/redis.js';
import { createStandInLog } from '../support/stand-in-log.js';
import { figures, ms, percentile, sideBySide, spread, timed, times, type Row } from './figures.js';

const run = promisify(execFile);
export const STAND_IN = fileURLToPath(new URL('../../dist/stand-in/nvidia-smi.js', import.meta.url));

/** A stand-in that takes 100 ms for each run, as the real one does on 8 cards. */
function slowMachine() {
  const machine = defaultMachine();
  machine.delay_ms = 100;
  return machine;
}

export async function freshScrape(engine: Engine): Promise<Row> {
  const log = createStandInLog();
  const gate = await startGate({
    engine,
    machine: slowMachine(),
    settings: { TUNEPLANE_SCRAPE_MAX_AGE_MS: '0', STAND_IN_LOG: log.path },
  });
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const machineFile = join(folder, 'machine.json');
  writeFileSync(machineFile, JSON.stringify(slowMachine()));
  await gate.get('/metrics');
  // The two programs of a look, started directly.
  const programs = log.commands().slice(-2);
  const env = { STAND_IN_MACHINE: machineFile };
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < 25; round++) {
    ours.push(await timed(() => gate.get('/metrics')));
    const alone: number[] = [];
    for (const argv of programs) alone.push(await timed(() => run(process.execPath, [STAND_IN, ...argv], { env })));
    theirs.push(Math.max(...alone));
  }
  await gate.stop();
  log.remove();
  rmSync(folder, { recursive: true });
  const ratio = figures(ours.map((value, at) => value / (theirs[at] ?? 1)));
  return {
    what: 'a fresh scrape, stand-in of 100 ms per run, 8 cards',
    against: 'the slower of its two `nvidia-smi` runs, alone',
    measured: `${spread(ratio, times)} times; ${ms(figures(ours).median)} against ${ms(figures(theirs).median)}`,
    mark: 'at most 1.15',
    met: ratio.median <= 1.15,
  };
}

export async function reusedScrape(engine: Engine): Promise<Row> {
  const gate = await startGate({ engine, settings: { TUNEPLANE_SCRAPE_MAX_AGE_MS: '60000' } });
  const page = (await gate.get('/metrics')).text;
  const plain = await plainExpress(page.length);
  const { ours, theirs } = await sideBySide(
    200,
    () => gate.get('/metrics'),
    () => fetch(plain.url).then((it) => it.text()),
  );
  plain.stop();
  await gate.stop();
  const more = ours.median - theirs.median;
  return {
    what: 'a scrape that may reuse a look',
    against: 'a plain Express route that sends as many bytes',
    measured: `${ms(more)} more; ${spread(ours, ms)} against ${spread(theirs, ms)}`,
    mark: 'at most 3 ms more at the median',
    met: more <= 3,
  };
}

export async function fiftyScrapes(engine: Engine): Promise<Row> {
  const log = createStandInLog();
  const gate = await startGate({
    engine,
    machine: slowMachine(),
    settings: { TUNEPLANE_SCRAPE_MAX_AGE_MS: '0', STAND_IN_LOG: log.path },
  });
  const slowest: number[] = [];
  const alone: number[] = [];
  let looks = 0;
  await gate.get('/metrics');
  for (let round = 0; round < 8; round++) {
    alone.push(await timed(() => gate.get('/metrics')));
    const before = log.asked().length;
    slowest.push(await timed(() => Promise.all(Array.from({ length: 50 }, () => gate.get('/metrics')))));
    looks = Math.max(looks, log.asked().length - before);
  }
  await gate.stop();
  log.remove();
  const ratio = figures(slowest.map((value, at) => value / (alone[at] ?? 1)));
  return {
    what: '50 scrapes at once',
    against: 'one scrape',
    measured: `${spread(ratio, times)} times for the slowest; ${looks} processes`,
    mark: 'one look (2 processes), the slowest at most 1.3',
    met: looks === 2 && ratio.median <= 1.3,
  };
}

export async function eventLoop(engine: Engine): Promise<Row> {
  const machine = defaultMachine();
  machine.hang = { at: 'init' };
  const gate = await startGate({ engine, machine, settings: { TUNEPLANE_PROBE_TIMEOUT_S: '10' } });
  const idle = await healthz(gate, 200);
  const waiting = Promise.all(Array.from({ length: 50 }, () => gate.get('/metrics').catch(() => null)));
  const busy = await healthz(gate, 200);
  await waiting;
  await gate.stop();
  const p99 = percentile(busy, 99);
  return {
    what: '`/healthz` while `nvidia-smi` hangs and 50 scrapes wait',
    against: 'idle',
    measured: `p99 ${ms(p99)}; idle ${ms(percentile(idle, 99))}`,
    mark: 'p99 at most 20 ms',
    met: p99 <= 20,
  };
}

async function healthz(gate: Gate, count: number): Promise<number[]> {
  const took: number[] = [];
  for (let nth = 0; nth < count; nth++) took.push(await timed(() => gate.get('/healthz')));
  return took;
}

export async function startUp(engine: Engine): Promise<Row> {
  const ours: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < 7; round++) {
    bare.push(await timed(() => run(process.execPath, ['-e', '0'])));
    const began = performance.now();
    const gate = await startGate({ engine });
    while ((await gate.get('/readyz')).status !== 200);
    ours.push(performance.now() - began);
    await gate.stop();
  }
  const ratio = figures(ours.map((value, at) => value / (bare[at] ?? 1)));
  return {
    what: 'start of the process to the first 200 of `/readyz`',
    against: '`node -e 0`',
    measured: `${spread(ratio, times)} times; ${spread(figures(ours), ms)}`,
    mark: 'at most 10 times',
    met: ratio.median <= 10,
  };
}

/** A process that only sends bytes, for comparison. */
async function plainExpress(bytes: number): Promise<{ url: string; stop(): void }> {
  const port = await freePort();
  const source = `import express from 'express'; const body = 'x'.repeat(${bytes}); const app = express(); app.get('/', (q, s) => { s.type('text/plain').send(body) }); app.listen(${port}, '127.0.0.1', () => console.log('up'));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  return { url: `http://127.0.0.1:${port}/`, stop: () => void child.kill('SIGKILL') };
}
