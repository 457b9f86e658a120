import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { cardUuid } from '../../src/model/card.js';
import type { Exclusion } from '../../src/model/snapshot.js';
import { openCardStore, type StoredCards } from '../../src/state/card-store.js';
import { EXCLUSIONS } from '../../src/state/file-formats.js';
import { systemClock } from '../../src/time/system-clock.js';
import { emptyFolder, recordingLog, type RecordingLog } from '../lock/outside.js';

const NOON = Date.parse('2026-12-01T12:00:00.000Z');
const HOUR = 3_600_000;

let folder: string;
let log: RecordingLog;
let nowMs: number;
beforeEach(() => {
  folder = emptyFolder();
  log = recordingLog();
  nowMs = NOON;
});
afterEach(async () => {
  for (const cards of opened.splice(0)) await cards.settled();
  rmSync(folder, { recursive: true, force: true });
});

const clock = { ...systemClock, now: () => nowMs };
const opened: StoredCards[] = [];
const iso = (ms: number): string => new Date(ms).toISOString();

function exclusion(index: number, until: number | null, since = NOON): Exclusion {
  const uuid = cardUuid(`GPU-${index}`);
  return { uuid, reason: 'burn-in', since: iso(since), principal: 'kim', until: until === null ? null : iso(until) };
}

async function open(): Promise<StoredCards> {
  const cards = await openCardStore(folder, { clock, log });
  opened.push(cards);
  return cards;
}

async function reopened(cards: StoredCards): Promise<StoredCards> {
  await cards.settled();
  return open();
}

test('an exclusion stands until its end, over restarts, and is then over by itself, told once', async () => {
  let cards = await open();
  await cards.exclude(exclusion(0, NOON + HOUR));
  await cards.exclude(exclusion(1, null));
  cards = await reopened(cards);
  nowMs = NOON + HOUR - 1;
  expect(cards.exclusions()).toEqual([exclusion(0, NOON + HOUR), exclusion(1, null)]);
  nowMs = NOON + HOUR;
  expect(cards.exclusions()).toEqual([exclusion(1, null)]);
  expect(cards.exclusions()).toEqual([exclusion(1, null)]);
  cards = await reopened(cards);
  expect(cards.exclusions()).toEqual([exclusion(1, null)]);
  expect(log.lines).toEqual(['info: the exclusion of GPU-0 by kim has ended']);
  expect(await cards.include(cardUuid('GPU-0'))).toBe(false);
});

test('one that ended while no gate ran is over at the first look', async () => {
  const cards = await open();
  await cards.exclude(exclusion(0, NOON + HOUR));
  nowMs = NOON + 2 * HOUR;
  expect((await reopened(cards)).exclusions()).toEqual([]);
});

test('a clock that is set back makes an exclusion longer, and brings none back that has ended', async () => {
  const cards = await open();
  await cards.exclude(exclusion(0, NOON + HOUR));
  await cards.exclude(exclusion(1, NOON + 3 * HOUR));
  nowMs = NOON + 2 * HOUR;
  expect(cards.exclusions()).toHaveLength(1);
  nowMs = NOON - HOUR;
  expect(cards.exclusions()).toEqual([exclusion(1, NOON + 3 * HOUR)]);
  expect((await reopened(cards)).exclusions()).toEqual([exclusion(1, NOON + 3 * HOUR)]);
});

test('the last word about a card counts: a later one, an earlier one, or none', async () => {
  const cards = await open();
  for (const until of [NOON + HOUR, NOON + 3 * HOUR, null, NOON + 2 * HOUR]) {
    await cards.exclude(exclusion(0, until));
    expect((await reopened(cards)).exclusions()).toEqual([exclusion(0, until)]);
  }
  await cards.include(cardUuid('GPU-0'));
  await cards.exclude(exclusion(0, null));
  expect((await reopened(cards)).exclusions()).toEqual([exclusion(0, null)]);
});

test('a gate of an earlier version reads every exclusion, each without an end', async () => {
  const cards = await open();
  await cards.exclude(exclusion(0, NOON + HOUR));
  const text = readFileSync(join(folder, 'exclusions.json'), 'utf8');
  const { version, entries } = JSON.parse(text);
  expect({ version, keys: Object.keys(entries[0]).toSorted() }).toEqual({
    version: 1,
    keys: ['principal', 'reason', 'since', 'uuid'],
  });
});

test('a file of an earlier version is read, and what it took out anew since has no end', async () => {
  const cards = await open();
  await cards.exclude(exclusion(0, NOON + HOUR));
  await cards.settled();
  const { until: _until, ...again } = exclusion(0, null, NOON + 60_000);
  writeFileSync(join(folder, 'exclusions.json'), EXCLUSIONS.print([again]));
  nowMs = NOON + 2 * HOUR;
  expect((await open()).exclusions()).toEqual([{ ...again, until: null }]);
});

test('where the ends cannot be read, the cards stay out', async () => {
  const cards = await open();
  await cards.exclude(exclusion(0, NOON + HOUR));
  await cards.settled();
  writeFileSync(join(folder, 'exclusion-ends.json'), '{"version":1,"entr');
  expect((await open()).exclusions()).toEqual([exclusion(0, null)]);
  expect(log.lines[0]).toMatch(/^error: .*exclusion-ends\.json cannot be read/);
});

test.each(['exclusions.json', 'exclusion-ends.json'])('an end that cannot be kept in %s is refused', async (file) => {
  const cards = await open();
  await cards.exclude(exclusion(0, NOON + HOUR));
  rmSync(join(folder, file));
  mkdirSync(join(folder, file, 'in the way'), { recursive: true });
  await expect(cards.exclude(exclusion(0, NOON + 2 * HOUR, NOON + 60_000))).rejects.toThrow(/EISDIR|ENOTEMPTY/);
  expect(cards.exclusions()).toEqual([exclusion(0, NOON + HOUR)]);
});

test('one that has ended is over though the disk cannot be written', async () => {
  const cards = await open();
  await cards.exclude(exclusion(0, NOON + HOUR));
  rmSync(join(folder, 'exclusions.json'));
  mkdirSync(join(folder, 'exclusions.json', 'in the way'), { recursive: true });
  nowMs = NOON + HOUR;
  expect(cards.exclusions()).toEqual([]);
  await cards.settled();
  expect(cards.exclusions()).toEqual([]);
});

test('ends of exclusions that are gone do not pile up', async () => {
  const cards = await open();
  for (let at = 0; at < 5; at += 1) await cards.exclude(exclusion(0, NOON + HOUR + at, NOON + at));
  await cards.exclude(exclusion(1, NOON + HOUR));
  await cards.include(cardUuid('GPU-1'));
  await cards.settled();
  const { entries } = JSON.parse(readFileSync(join(folder, 'exclusion-ends.json'), 'utf8'));
  expect(entries).toEqual([{ uuid: 'GPU-0', since: iso(NOON + 4), until: iso(NOON + HOUR + 4) }]);
  expect(readdirSync(folder).toSorted()).toEqual(['exclusion-ends.json', 'exclusions.json']);
});
