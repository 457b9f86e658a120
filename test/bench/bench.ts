import { writeFileSync } from 'node:fs';
import { arch, cpus } from 'node:os';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startEngine, type Engine } from '../support/docker/engine.js';
import { eightAdmissions, manyContainers, oneAdmission, twoGates } from './admissions.js';
import { asMarkdown, type Row } from './figures.js';
import { growth } from './growth.js';
import { fullLine, handOver, reservations } from './line.js';
import { endedContainers, idleWakeUps, lostCard, ownCpu, quickPrograms } from './look-cost.js';
import { memory } from './memory.js';
import { localityRows, pickingAnyOfSixteen } from './picking.js';
import { eventLoop, fiftyScrapes, freshScrape, reusedScrape, startUp } from './scrapes.js';

/** Compares in one run, on real parts. Nothing here passes or fails by a time: the table shows what was measured. */

let engine: Engine;
const rows: Row[] = [];
let costs = '';
let grows = '';

beforeAll(async () => {
  engine = await startEngine();
});
afterAll(async () => {
  await engine?.stop();
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? arch()}, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}`;
  const text = `${machine}\n\n${asMarkdown(rows)}\n${costs}\n${grows}`;
  console.log(text);
  const file = process.env['BENCH_FILE'];
  if (file) writeFileSync(file, text);
});

const benchmarks: readonly (readonly [string, (engine: Engine) => Promise<readonly Row[]>])[] = [
  ['picking', async () => [pickingAnyOfSixteen(), ...localityRows(200_000)]],
  ['a fresh scrape', async (on) => [await freshScrape(on)]],
  ['a reused scrape', async (on) => [await reusedScrape(on)]],
  ['fifty scrapes', async (on) => [await fiftyScrapes(on)]],
  ['the event loop', async (on) => [await eventLoop(on)]],
  ['the start', async (on) => [await startUp(on)]],
  ['one admission', async (on) => [await oneAdmission(on)]],
  ['eight admissions', async (on) => eightAdmissions(on)],
  ['two gates', async (on) => [await twoGates(on)]],
  ['a hand-over', async (on) => [await handOver(on)]],
  ['a full line', async (on) => [await fullLine(on)]],
  ['many containers', async (on) => [await manyContainers(on)]],
  ['quick programs', async (on) => [await quickPrograms(on)]],
  ['ended containers', async (on) => [await endedContainers(on)]],
  ['one card lost', async (on) => [await lostCard(on)]],
  ['an idle gate', async (on) => [await idleWakeUps(on)]],
  ['own CPU', async (on) => [await ownCpu(on)]],
  ['memory', async (on) => [await memory(on)]],
];

test.each(benchmarks)('%s', { timeout: 600_000 }, async (_name, measure) => {
  const measured = await measure(engine);
  rows.push(...measured);
  // A whole run takes long: what is measured so far is seen, also where it ends early.
  for (const { what, measured: figure } of measured) console.log(`${what}: ${figure}`);
  expect(measured.length).toBeGreaterThan(0);
});

test('what a reservation costs', { timeout: 600_000 }, () => {
  costs = reservations();
  expect(costs).toContain('|');
});

test('how it grows', { timeout: 600_000 }, async () => {
  grows = await growth(engine);
  expect(grows).toContain('|');
});
