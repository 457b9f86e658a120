/** What a look costs: by what has ended, by a card that is lost, and what the gate does when nobody asks. */

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { cardAt, defaultMachine } from '../../src/stand-in/machine/build-machine.js';
import type { Machine } from '../../src/stand-in/machine/machine.js';
import type { Engine } from '../support/docker/engine.js';
import { startGate, type Gate } from '../support/gate.js';
import { createStandInLog } from '../support/stand-in-log.js';
import { ms, sideBySide, spread, times, type Row } from './figures.js';
import { STAND_IN } from './scrapes.js';

const FRESH = { TUNEPLANE_SCRAPE_MAX_AGE_MS: '0' };
const ROUNDS = 40;

/** A program of 100 ms a run, so that what is measured is how many follow one another. */
function slow(change: (machine: Machine) => void = () => undefined): Machine {
  const machine = defaultMachine();
  machine.delay_ms = 100;
  change(machine);
  return machine;
}

export async function lostCard(engine: Engine): Promise<Row> {
  const sound = await startGate({ engine, machine: slow(), settings: FRESH });
  const broken = await startGate({
    engine,
    machine: slow((machine) => {
      cardAt(machine, 3).fault = { kind: 'handle', error: 'lost' };
    }),
    settings: FRESH,
  });
  const { ours, theirs, ratio } = await sideBySide(
    ROUNDS,
    () => broken.get('/metrics'),
    () => sound.get('/metrics'),
  );
  await Promise.all([sound.stop(), broken.stop()]);
  return {
    what: 'a fresh scrape with one card lost, stand-in of 100 ms per run',
    against: 'the same with none',
    measured: `${spread(ratio, times)} times; ${ms(ours.median)} against ${ms(theirs.median)}`,
    mark: 'at most 1.3',
    met: ratio.median <= 1.3,
  };
}

/** Of programs that take hardly any time, what is left is the gate's own work. */
export async function quickPrograms(engine: Engine): Promise<Row> {
  const log = createStandInLog();
  const learning = await startGate({ engine, settings: { ...FRESH, STAND_IN_LOG: log.path } });
  await learning.get('/metrics');
  const commands = log.commands().slice(-2);
  await learning.stop();
  log.remove();

  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const answers = await Promise.all(commands.map((argv) => execa(process.execPath, [STAND_IN, ...argv])));
  for (const [at, { stdout }] of answers.entries()) writeFileSync(join(folder, String(at)), `${stdout}\n`);
  const kinds = commands.map(([first = '']) => first.split('=')[0]);
  const script = `case "$1" in
${kinds.map((kind, at) => `  ${kind}=*) exec cat '${folder}/${at}' ;;`).join('\n')}
esac
exec '${process.execPath}' '${STAND_IN}' "$@"`;
  const program = join(folder, 'nvidia-smi');
  writeFileSync(program, `#!/bin/sh\nPATH=/usr/bin:/bin\n${script}\n`, { mode: 0o755 });

  const gate = await startGate({ engine, nvidiaSmi: { script }, settings: FRESH });
  const { ours, theirs } = await sideBySide(
    100,
    () => gate.get('/metrics'),
    () => Promise.all(commands.map((argv) => execa(program, argv))),
  );
  await gate.stop();
  rmSync(folder, { recursive: true });
  const more = ours.median - theirs.median;
  return {
    what: 'a fresh scrape, programs that take a few ms',
    against: 'the two programs alone, side by side, by the same library',
    measured: `${ms(more)} more; ${spread(ours, ms)} against ${spread(theirs, ms)}`,
    mark: 'at most 6 ms more at the median',
    met: more <= 6,
  };
}

export async function endedContainers(engine: Engine): Promise<Row> {
  const gate = await startGate({ engine, settings: FRESH });
  const scrape = (): Promise<unknown> => gate.get('/metrics');
  const none = await sideBySide(ROUNDS, scrape, async () => undefined);
  await createEnded(engine, 2000);
  const many = await sideBySide(ROUNDS, scrape, async () => undefined);
  await gate.stop();
  const ratio = many.ours.median / none.ours.median;
  return {
    what: 'a fresh scrape beside 2,000 ended containers',
    against: 'the same with none',
    measured: `${ratio.toFixed(2)} times; ${ms(many.ours.median)} against ${ms(none.ours.median)}`,
    mark: 'at most 1.2',
    met: ratio <= 1.2,
  };
}

const IDLE_S = 20;

export async function idleWakeUps(engine: Engine): Promise<Row> {
  const gate = await startGate({ engine });
  await gate.get('/metrics');
  await sleep(3000);
  const before = wakeUps(gate);
  await sleep(IDLE_S * 1000);
  const perSecond = (wakeUps(gate) - before) / IDLE_S;
  await gate.stop();
  return {
    what: 'wake-ups of an idle gate',
    against: 'none',
    measured: `${perSecond.toFixed(1)} a second over ${IDLE_S} s`,
    mark: 'at most 5 a second',
    met: perSecond <= 5,
  };
}

export async function ownCpu(engine: Engine): Promise<Row> {
  const gate = await startGate({ engine, settings: FRESH });
  for (let warm = 0; warm < 50; warm++) await gate.get('/metrics');
  const before = cpuSeconds(gate);
  for (let scrape = 0; scrape < 1000; scrape++) await gate.get('/metrics');
  const spent = cpuSeconds(gate) - before;
  await gate.stop();
  return {
    what: 'CPU of the gate itself for 1,000 fresh scrapes, its programs not counted',
    against: 'none',
    measured: `${spent.toFixed(1)} s`,
    mark: 'at most 10 s',
    met: spent <= 10,
  };
}

/** They run and end: one that was never started lives, as the books have it. Without a network of their own they take half the time. */
async function createEnded(engine: Engine, count: number): Promise<void> {
  const AT_ONCE = 4;
  let made = 0;
  const one = async (): Promise<void> => {
    while (made < count) {
      made += 1;
      const container = await engine.docker.createContainer({
        Image: engine.image,
        Cmd: ['true'],
        HostConfig: { NetworkMode: 'host' },
      });
      await container.start();
      await container.wait();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
}

/** How often the threads of the process went to sleep of themselves, which is as often as they woke up. */
function wakeUps({ pid }: Gate): number {
  return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => {
    const text = readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8');
    return sum + Number(/^voluntary_ctxt_switches:\s*(\d+)$/m.exec(text)?.[1] ?? Number.NaN);
  }, 0);
}

/** User and system time of the process, without its children; a tick is 10 ms. */
function cpuSeconds({ pid }: Gate): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
