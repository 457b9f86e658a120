/** The memory of a gate after work. */

import { readFileSync } from 'node:fs';
import type { Engine } from '../support/docker/engine.js';
import { startGate, type Gate } from '../support/gate.js';
import { jobToPost } from '../support/jobs-to-post.js';
import type { Row } from './figures.js';

const MIB = 1024;

/** Resident memory in MiB, as the kernel counts it. */
export function residentMib(gate: Gate): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${gate.pid}/status`, 'utf8'))?.[1]) / MIB;
}

async function work(gate: Gate, scrapes: number, decisions: number): Promise<void> {
  for (let done = 0; done < scrapes; done += 20)
    await Promise.all(Array.from({ length: 20 }, () => gate.get('/metrics')));
  for (let done = 0; done < decisions; done += 50) {
    await Promise.all(Array.from({ length: 50 }, (_, at) => gate.post('/admit', jobToPost(`wait-${done + at}`, 8))));
  }
}

/** The decisions are `wait`: each goes through the queue, the lock and a look, and none leaves a container. */
export async function memory(engine: Engine): Promise<Row> {
  const gate = await startGate({ engine });
  await gate.post('/admit', jobToPost('holder', 1, { ulimits: { memlock: 65_536 } }));
  await work(gate, 1000, 1000);
  const before = residentMib(gate);
  await work(gate, 19_000, 1000);
  const after = residentMib(gate);
  await gate.stop();
  return {
    what: 'memory after 20,000 scrapes and 2,000 decisions',
    against: 'after the first 1,000 of each',
    measured: `${(after - before).toFixed(1)} MiB more, ${after.toFixed(0)} MiB in all`,
    mark: 'at most 10 MiB more, at most 110 MiB in all',
    met: after - before <= 10 && after <= 110,
  };
}
