/** How each cost grows with the size of its input. */

import { defaultMachine, healthyMachine } from '../../src/stand-in/machine/build-machine.js';
import type { Engine } from '../support/docker/engine.js';
import { startGate, type Gate } from '../support/gate.js';
import { jobToPost } from '../support/jobs-to-post.js';
import { startRedis } from '../support/services/redis.js';
import { figures, ms, timed } from './figures.js';

/** Medians in milliseconds by size, and the reason for each curve. */
export async function growth(engine: Engine): Promise<string> {
  const containers = await byContainers(engine);
  return [
    '| what | size: median | what bends it |',
    '|---|---|---|',
    row('a fresh scrape, by cards', await byCards(engine), 'nothing: it waits for the same two programs'),
    row('a fresh scrape, by containers', containers.scrape, 'Docker, which makes a list of them all for each look'),
    row('a plain list of Docker, for comparison', containers.list, ''),
    row(
      'admissions that must wait, posted at once, until all are answered',
      await byWaiting(engine),
      'the first is served alone, all that came meanwhile are one batch with one look; then it is the reading and answering of so many requests',
    ),
    row(
      '40 admissions that must wait, by gate processes that share a Redis',
      await byGates(engine),
      'one lock: each gate takes its turns with looks of its own, and a machine is looked at by one at a time',
    ),
    '',
  ].join('\n');
}

const row = (what: string, sizes: readonly (readonly [number, number])[], why: string): string =>
  `| ${what} | ${sizes.map(([size, took]) => `${size}: ${ms(took)}`).join(', ')} | ${why} |`;

async function medianScrape(gate: Gate, rounds = 9): Promise<number> {
  await gate.get('/metrics');
  const took: number[] = [];
  for (let round = 0; round < rounds; round++) took.push(await timed(() => gate.get('/metrics')));
  return figures(took).median;
}

const FRESH = { TUNEPLANE_SCRAPE_MAX_AGE_MS: '0' };

async function byCards(engine: Engine): Promise<[number, number][]> {
  const sizes: [number, number][] = [];
  for (const cards of [1, 2, 4, 8, 16]) {
    const gate = await startGate({ engine, machine: healthyMachine({ cards }), settings: FRESH });
    sizes.push([cards, await medianScrape(gate)]);
    await gate.stop();
  }
  return sizes;
}

async function byContainers(engine: Engine): Promise<{ scrape: [number, number][]; list: [number, number][] }> {
  const scrape: [number, number][] = [];
  const list: [number, number][] = [];
  const gate = await startGate({ engine, settings: FRESH });
  let made = 0;
  for (const wanted of [0, 50, 500, 2000]) {
    for (; made < wanted; made += 10) {
      await Promise.all(
        Array.from({ length: 10 }, () => engine.docker.createContainer({ Image: engine.image, Cmd: ['true'] })),
      );
    }
    scrape.push([wanted, await medianScrape(gate)]);
    const plain: number[] = [];
    for (let round = 0; round < 9; round++) plain.push(await timed(() => engine.docker.listContainers({ all: true })));
    list.push([wanted, figures(plain).median]);
  }
  await gate.stop();
  const listed = await engine.docker.listContainers({ all: true });
  for (let at = 0; at < listed.length; at += 10) {
    await Promise.all(
      listed.slice(at, at + 10).map(({ Id }) => engine.docker.getContainer(Id).remove({ force: true })),
    );
  }
  return { scrape, list };
}

async function waitAll(gates: readonly Gate[], count: number, name: string): Promise<number> {
  return timed(() =>
    Promise.all(
      Array.from({ length: count }, (_, at) => gates[at % gates.length]!.post('/admit', jobToPost(`${name}-${at}`, 1))),
    ),
  );
}

/** A machine whose cards are all used from outside: every request waits. */
function fullMachine() {
  const machine = defaultMachine();
  for (const card of machine.cards) card.memory_used_mib = 40_000;
  return machine;
}

async function byWaiting(engine: Engine): Promise<[number, number][]> {
  const gate = await startGate({ engine, machine: fullMachine() });
  const sizes: [number, number][] = [];
  for (const count of [1, 8, 32, 128]) {
    const took: number[] = [];
    for (let round = 0; round < 5; round++) took.push(await waitAll([gate], count, `w${count}-${round}`));
    sizes.push([count, figures(took).median]);
  }
  await gate.stop();
  return sizes;
}

async function byGates(engine: Engine): Promise<[number, number][]> {
  const redis = await startRedis();
  const sizes: [number, number][] = [];
  for (const count of [1, 2, 4, 8]) {
    const gates = await Promise.all(
      Array.from({ length: count }, () =>
        startGate({ engine, redisUrl: redis.url, machine: fullMachine(), settings: { TUNEPLANE_PROCESSES: '8' } }),
      ),
    );
    const took: number[] = [];
    for (let round = 0; round < 3; round++) took.push(await waitAll(gates, 40, `g${count}-${round}`));
    sizes.push([count, figures(took).median]);
    await Promise.all(gates.map((gate) => gate.stop()));
  }
  await redis.stop();
  return sizes;
}
