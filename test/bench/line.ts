/** How soon the next in line starts, what a full line weighs, and what a reservation costs. */

import { setTimeout as sleep } from 'node:timers/promises';
import { healthyMachine } from '../../src/stand-in/machine/build-machine.js';
import { EIGHT_CARDS, runStream } from '../line/streams.js';
import type { Engine } from '../support/docker/engine.js';
import { startGate, type Gate } from '../support/gate.js';
import { jobToPost } from '../support/jobs-to-post.js';
import { figures, ms, percentile, spread, timed, type Figures, type Row } from './figures.js';
import { residentMib } from './memory.js';

const HELD = { prefer: 'wait=300' };
const oneCard = { machine: healthyMachine({ cards: 1 }) };

/** A chain of short jobs on one card: the next one is held in line while each of them runs. */
export async function handOver(engine: Engine): Promise<Row> {
  const gate = await startGate({ engine, ...oneCard, settings: { TUNEPLANE_SCRAPE_MAX_AGE_MS: '0' } });
  const look = await medianLook(gate);
  const took = await chain(engine, gate, 20);
  await gate.stop();
  const create = await medianCreate(engine);
  const more = took.median - look - create;
  return {
    what: 'from the end of a job until the next in line is created, without Redis',
    against: 'a fresh look, and a plain create',
    measured: `${ms(more)} more; ${spread(took, ms)} against ${ms(look)} and ${ms(create)}`,
    mark: 'at most 50 ms more at the median',
    met: more <= 50,
  };
}

const PLACES = 1000;
const HELD_PLACES = 256;

/** The same chain in front of a line that is full, with as many held requests as there may be. */
export async function fullLine(engine: Engine): Promise<Row> {
  const gate = await startGate({ engine, ...oneCard, settings: { TUNEPLANE_SCRAPE_MAX_AGE_MS: '0' } });
  const before = residentMib(gate);
  await gate.post('/admit', jobToPost('full-holder', 1, job(30)));
  const held = Array.from({ length: HELD_PLACES }, async (_, at) => {
    await gate.post('/admit', jobToPost(`full-held-${at}`, 1, job(0.2)), HELD).catch(() => undefined);
  });
  // The others come after all of these: whoever is silent keeps the card until its place lapses.
  while ((await inLine(gate)) < HELD_PLACES) await sleep(100);
  for (let at = HELD_PLACES; at < PLACES; at += 62) {
    await Promise.all(Array.from({ length: 62 }, (_, more) => gate.post('/admit', jobToPost(`full-${at + more}`))));
  }
  const places = await inLine(gate);
  const health: number[] = [];
  const began = Date.now();
  while (Date.now() - began < 45_000) {
    health.push(await timed(() => gate.get('/healthz')));
    await sleep(20);
  }
  const peak = residentMib(gate);
  const took = figures(await handOvers(engine, began));
  await gate.kill();
  await Promise.all(held);
  return {
    what: `the same with ${places} places in line, ${HELD_PLACES} of them held requests`,
    against: 'none',
    measured: `${spread(took, ms)}; \`/healthz\` p99 ${ms(percentile(health, 99))}; ${(peak - before).toFixed(0)} MiB more, ${peak.toFixed(0)} MiB in all`,
    mark: 'none; for comparison',
    met: true,
  };
}

async function inLine(gate: Gate): Promise<number> {
  const { body } = await gate.get('/runs?state=waiting&limit=2000');
  return (body as { readonly runs: readonly unknown[] }).runs.length;
}

const job = (seconds: number) => ({ command: ['sleep', String(seconds)], ulimits: { memlock: 65_536 } });

async function medianLook(gate: Gate): Promise<number> {
  const took: number[] = [];
  for (let round = 0; round < 15; round++) took.push(await timed(() => gate.get('/metrics')));
  return figures(took).median;
}

/** The engine tells of a create when it is done. */
async function medianCreate({ docker, image }: Engine): Promise<number> {
  const took: number[] = [];
  for (let round = 0; round < 15; round++) {
    const began = performance.now();
    const container = await docker.createContainer({ Image: image, Cmd: ['true'] });
    took.push(performance.now() - began);
    await container.remove();
  }
  return figures(took).median;
}

async function chain(engine: Engine, gate: Gate, jobs: number): Promise<Figures> {
  const began = Date.now();
  const post = (at: number): Promise<unknown> => gate.post('/admit', jobToPost(`chain-${at}`, 1, job(1)), HELD);
  await post(0);
  for (let at = 1; at < jobs; at++) await post(at);
  await sleep(1000);
  return figures(await handOvers(engine, began));
}

/** From each end of a container to the create of the next one, by the engine's own times. */
async function handOvers(engine: Engine, since: number): Promise<readonly number[]> {
  const stream = await engine.docker.getEvents({
    since: Math.floor(since / 1000),
    until: Math.floor(Date.now() / 1000),
    filters: { event: ['die', 'create'] },
  });
  let text = '';
  for await (const piece of stream) text += String(piece);
  const events = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { readonly Action: string; readonly timeNano: number });
  return events.flatMap(({ Action, timeNano }, at) => {
    const before = events[at - 1];
    return Action === 'create' && before?.Action === 'die' ? [(timeNano - before.timeNano) / 1e6] : [];
  });
}

/** Of the line alone, by its own function over simulated days; no clock is involved. */
export function reservations(): string {
  const rows = [0.6, 0.7, 0.8].flatMap((load) =>
    [10, 120, null].map((reserveAfter) => ({ ...EIGHT_CARDS, load, reserveAfter })),
  );
  return [
    '| load | reservation after | use of the cards | reserved and idle | idle card-hours per 8-card start | 8-card run waits: median, 95 % | 1-card run waits: median, 95 % |',
    '|---|---|---|---|---|---|---|',
    ...rows.map((stream) => {
      const { waits, used, reserved, minutes } = runStream(stream);
      const all = stream.cards.length * minutes;
      const percent = (part: number): string => `${((100 * part) / all).toFixed(1)} %`;
      const after = stream.reserveAfter === null ? 'never' : `${stream.reserveAfter} min`;
      const perStart = (reserved / 60 / waits.big.length).toFixed(1);
      return `| ${stream.load} | ${after} | ${percent(used)} | ${percent(reserved)} | ${perStart} | ${waited(waits.big)} | ${waited(waits.small)} |`;
    }),
    '',
  ].join('\n');
}

const waited = (minutes: readonly number[]): string =>
  `${Math.round(percentile(minutes, 50))} min, ${Math.round(percentile(minutes, 95))} min`;
