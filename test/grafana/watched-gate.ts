import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { cardAt, defaultMachine, putLoad } from '../../src/stand-in/machine/build-machine.js';
import { createKernelLines } from '../../src/stand-in/machine/kernel-lines.js';
import type { Machine } from '../../src/stand-in/machine/machine.js';
import { startEngine } from '../support/docker/engine.js';
import { startGate, type Gate } from '../support/gate.js';
import { startPrometheus, type Sample, type TestPrometheus } from '../support/services/prometheus.js';
import { freePort, startRedis } from '../support/services/redis.js';
import { panel, readDashboard, variablesOf, type DashboardFile } from './dashboard-file.js';
import { expand, offered, type Chosen } from './expand.js';

export const JOB = 'tuneplane-gpu-gate';
export const fleet = readDashboard('fleet');
export const card = readDashboard('card');

/** A real gate with cards in many states, and a real Prometheus that scrapes it, queried as Grafana does. */
export interface WatchedGate {
  readonly gate: Gate;
  readonly machine: Machine;
  readonly prometheus: TestPrometheus;
  /** The addresses of the gate, and of a target that never answered. */
  readonly here: string;
  readonly silent: string;
  /**
   * Selects everything on the dashboard of all machines, one card on the other; fails where the variables do not offer it.
   */
  choose(uuid: string): Promise<void>;
  chosen(dashboard: DashboardFile): Chosen;
  /** The current answer to one query of a panel. */
  shown(dashboard: DashboardFile, title: string, refId?: string): Promise<readonly Sample[]>;
  /** Only its values. */
  values(dashboard: DashboardFile, title: string, refId?: string): Promise<readonly number[]>;
  /** Its values by the value of a label. */
  by(label: string, dashboard: DashboardFile, title: string, refId?: string): Promise<Readonly<Record<string, number>>>;
  /** The values of one label by those of another, for series with both. */
  texts(
    label: string,
    by: string,
    dashboard: DashboardFile,
    title: string,
    refId?: string,
  ): Promise<Readonly<Record<string, string>>>;
  stop(): Promise<void>;
}

/** Waits for the scrape that contains it. */
export function until(holds: () => Promise<void>): Promise<void> {
  return vi.waitFor(holds, { timeout: 20_000, interval: 100 });
}

/**
 * Real Docker, Redis, and 8 cards: a job holds 0 and 1, of which 1 has become unhealthy since; 2 is used from outside, the
 * memory of 4 is unreadable, 5 has a warning, 6 has two reasons, 7 is excluded. A second job waits. In addition a target
 * that never answered.
 */
export async function startWatchedGate(): Promise<WatchedGate> {
  const [engine, redis] = await Promise.all([startEngine(), startRedis()]);
  const machine = troubledMachine();
  const folder = mkdtempSync(join(tmpdir(), 'watched-gate-'));
  const kernelLog = join(folder, 'kmsg');
  // A mistake of the program on the card: it is counted and says nothing of the card.
  writeFileSync(kernelLog, createKernelLines().xid(cardAt(machine, 0), 31, 'pid=1, name=python'));
  const settings = {
    TUNEPLANE_METRICS_HOLDERS: 'true',
    TUNEPLANE_EXCLUDE_CARDS: '7',
    TUNEPLANE_KERNEL_LOG: kernelLog,
  };
  const gate = await startGate({ engine, machine, redisUrl: redis.url, settings });
  const [here, silent] = [new URL(gate.url).host, `127.0.0.1:${await freePort()}`];
  const prometheus = await startPrometheus({ scrape: { [JOB]: [here, silent] } });
  await until(async () => expect(await prometheus.query('tuneplane_gpu_cards{state="free"} == 4')).toHaveLength(1));

  const container = { image: engine.image, command: ['sleep', '600'] };
  expect(await gate.post('/admit', { run_id: 'train-17', count: 2, container })).toMatchObject({ status: 201 });
  expect(await gate.post('/admit', { run_id: 'big', count: 7, container })).toMatchObject({ status: 200 });
  Object.assign(cardAt(machine, 1).ecc ?? {}, { uncorrected_volatile: 1 });
  gate.setMachine(machine);
  await until(async () => expect(await prometheus.query('tuneplane_gpu_card_unhealthy == 1')).toHaveLength(3));

  let all: Readonly<Record<string, readonly string[]>> = {};
  let one: Readonly<Record<string, string>> = {};
  const shown: WatchedGate['shown'] = (dashboard, title, refId = 'A') => {
    const target = panel(dashboard, title).targets.find((each) => each.refId === refId);
    return prometheus.query(expand(target?.expr ?? '', dashboard === fleet ? all : one));
  };
  return {
    gate,
    machine,
    prometheus,
    here,
    silent,
    async choose(uuid) {
      all = {};
      for (const variable of variablesOf(fleet)) {
        all = { ...all, [variable.name]: await offered(prometheus, variable, all) };
      }
      one = { job: JOB, instance: here, uuid };
      for (const variable of variablesOf(card)) {
        expect(await offered(prometheus, variable, one), variable.name).toContain(one[variable.name]);
      }
    },
    chosen: (dashboard) => (dashboard === fleet ? all : one),
    shown,
    values: async (...from) => (await shown(...from)).map(({ value }) => value),
    by: async (label, ...from) =>
      Object.fromEntries((await shown(...from)).map(({ labels, value }) => [labels[label] ?? '', value])),
    texts: async (label, by, ...from) =>
      Object.fromEntries(
        (await shown(...from)).flatMap(({ labels }) => {
          const text = labels[label];
          return text === undefined ? [] : [[labels[by] ?? '', text]];
        }),
      ),
    async stop() {
      rmSync(folder, { recursive: true });
      await Promise.all([prometheus.stop(), gate.stop()]);
      await Promise.all([engine.stop(), redis.stop()]);
    },
  };
}

function troubledMachine(): Machine {
  const machine = defaultMachine();
  putLoad(cardAt(machine, 2), 812, { pid: 4242, name: 'python', memory_mib: 812 });
  cardAt(machine, 4).columns = { 'memory.used': '[N/A]' };
  Object.assign(cardAt(machine, 5).remapped_rows ?? {}, { pending: true });
  cardAt(machine, 6).recovery_action = 'Reset';
  Object.assign(cardAt(machine, 6).ecc ?? {}, { uncorrected_volatile: 2 });
  return machine;
}
