import { assert, asyncProperty, boolean, constantFrom, dictionary, nat, oneof, string } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cardUuid } from '../../src/model/card.js';
import { COLUMNS, READINGS } from '../../src/model/columns.js';
import type { JudgedCard } from '../../src/model/occupancy.js';
import type { Books } from '../../src/model/ports/books.js';
import type { RememberedCard } from '../../src/model/snapshot.js';
import { cardAt, healthyMachine, putLoad } from '../../src/stand-in/machine/build-machine.js';
import type { Machine } from '../../src/stand-in/machine/machine.js';
import { promtool } from '../metrics/page.js';
import { parseMetrics } from '../support/metrics-page.js';
import { watchMachine, type Look } from './watched-machine.js';

/**
 * Any column of any card says something that it should not. The gate may know less of that card then; it must not lose it,
 * give it away when it is in use, or think otherwise of any other.
 */

const DRIVERS = ['470.256.02', '535.261.03', '590.48.01'] as const;
type Driver = (typeof DRIVERS)[number];

/** Free, used by a process alone, ill, held, used by memory alone, divided, ill by another query, free. */
const STATES = ['free', 'external', 'unhealthy', 'job_held', 'external', 'excluded', 'unhealthy', 'free'];

function busyMachine(driver: Driver): Machine {
  const machine = healthyMachine({ driver, model: 'A100' });
  putLoad(cardAt(machine, 1), 60, { pid: 4242, name: 'python', memory_mib: 60 });
  Object.assign(cardAt(machine, 2).ecc ?? {}, { uncorrected_volatile: 3 });
  putLoad(cardAt(machine, 4), 70_000);
  cardAt(machine, 5).mig = { enabled: true, devices: [] };
  cardAt(machine, 6).remapped_rows = { correctable: 0, uncorrectable: 9, pending: false, failure: true };
  return machine;
}

/** One job, on card 3, by its uuid. */
const books: Pick<Books, 'list'> = {
  list: async () => {
    const uuid = cardUuid(cardAt(healthyMachine({ model: 'A100' }), 3).uuid);
    const container = {
      id: 'c0ffee',
      name: 'tuneplane-train',
      state: 'running',
      outOfReach: false,
      createdAtMs: 0,
      labels: { 'tuneplane.run_id': 'train' },
      claim: { uuids: [uuid], indices: [], unread: [] },
      pinned: { kind: 'none' },
    } as const;
    return { kind: 'seen', value: { containers: [container] }, tookMs: 0 };
  },
};

interface Known {
  readonly cards: readonly JudgedCard[];
  readonly remembered: readonly RememberedCard[];
}

const known = new Map<Driver, Promise<Known>>();
/** The machine as it is while every column says what it should. */
function before(driver: Driver): Promise<Known> {
  const made = known.get(driver) ?? firstLook(driver);
  known.set(driver, made);
  return made;
}

async function firstLook(driver: Driver): Promise<Known> {
  const watched = watchMachine(busyMachine(driver), { books });
  const { occupancy } = await watched.look();
  return { cards: occupancy.cards, remembered: watched.remembered() };
}

/** Each column by its newest name; the stand-in's cards take any. */
const IN_ROWS = READINGS.map((reading) => COLUMNS[reading].names.at(-1)?.field ?? '');
const IN_LISTS = ['gpu_uuid', 'pid', 'process_name', 'used_gpu_memory'];

/** Words of the driver, other words, commas and lengths, and what moves a cursor. */
const JUNK = [
  '[N/A]',
  'N/A',
  '[Not Supported]',
  '[GPU is lost]',
  '[GPU requires reset]',
  '[Unknown Error]',
  'ERR!',
  '[Insufficient Permissions]',
  '[Words of next year]',
  '',
  '-',
  'Unknown',
  'NaN',
  '-1',
  '"\\',
  'é\u2028',
  ',',
  'a,b',
  ',,,,',
  'x'.repeat(5000),
  `[${'y'.repeat(5000)}]`,
  'GPU-?',
  '\r',
  'a\rb',
  '\r[GPU is lost]',
  '\u001b[31mred\u001b[0m',
  '\u001b]0;title\u0007\u0000',
];

/** The columns by which alone it is known that a card must not be given away. */
const DECIDES: Readonly<Record<number, readonly string[]>> = {
  1: ['gpu_uuid', 'pid'],
  2: ['ecc.errors.uncorrected.volatile.total'],
  5: ['mig.mode.current'],
  6: ['remapped_rows.failure', 'gpu_uuid'],
};
/** What a card says that cannot be divided at all. */
const CANNOT_SAY = new Set(['[N/A]', 'N/A', '[Not Supported]']);
/** Without these nobody can say that a card is free. */
const NEEDED = new Set(['uuid', 'memory.used']);

async function lookedAt(
  driver: Driver,
  victim: number,
  columns: Readonly<Record<string, string>>,
  remembers: boolean,
): Promise<Look> {
  const machine = busyMachine(driver);
  cardAt(machine, victim).columns = columns;
  const { remembered } = await before(driver);
  return watchMachine(machine, { books, remembered: remembers ? remembered : [] }).look();
}

/** What is wrong with this look; nothing, if all is well. */
async function faults(
  driver: Driver,
  victim: number,
  columns: Readonly<Record<string, string>>,
  remembers = true,
): Promise<string[]> {
  const { occupancy, wholePage } = await lookedAt(driver, victim, columns, remembers);
  const { cards } = await before(driver);
  parseMetrics(wholePage);
  const found: string[] = [];
  if (occupancy.cards.length !== cards.length) found.push(`${occupancy.cards.length} cards`);
  for (const [index, was] of cards.entries()) {
    if (index === victim) continue;
    const is = occupancy.cards.find((card) => card.uuid === was.uuid);
    if (JSON.stringify(is) !== JSON.stringify(was)) found.push(`card ${index} is ${JSON.stringify(is)}`);
  }
  const was = cards[victim];
  const is = occupancy.cards.find(({ uuid, index }) => uuid === was?.uuid || (uuid === null && index === victim));
  if (is === undefined) return [...found, `card ${victim} is lost`];
  if (remembers && is.uuid !== was?.uuid) found.push(`its uuid is ${is.uuid}`);
  if (is.excluded !== null && was?.excluded === null) found.push(`it is excluded by ${is.excluded.by}`);
  // What is read of it is what is true, or nothing.
  for (const reading of ['memoryUsedBytes', 'memorySizeBytes', 'persistenceMode', 'processes'] as const) {
    if (is[reading] !== null && is[reading] !== was?.[reading]) found.push(`its ${reading} is ${is[reading]}`);
  }
  const names = Object.keys(columns);
  const decides = DECIDES[victim] ?? [];
  const decided = (name: string): boolean =>
    decides.includes(name) && (name !== 'mig.mode.current' || CANNOT_SAY.has(columns[name] ?? ''));
  const wasFree = was?.state === 'free';
  if (is.state === 'free' && (wasFree ? names.some((name) => NEEDED.has(name)) : !names.some(decided))) {
    found.push('it is free');
  }
  if (remembers && was?.state === 'job_held' && is.state !== 'job_held') found.push('its job is lost');
  return found;
}

test('the machine is what the others are measured by', async () => {
  for (const driver of DRIVERS) expect((await before(driver)).cards.map(({ state }) => state)).toEqual(STATES);
});

describe('a column that says what it should not', () => {
  test.each([0, 4])('costs no more than card %i', async (victim) => {
    const wrong: string[] = [];
    for (const column of [...IN_ROWS, ...IN_LISTS]) {
      for (const junk of JUNK) {
        const found = await faults('590.48.01', victim, { [column]: junk });
        if (found.length > 0) wrong.push(`${column} ${JSON.stringify(junk.slice(0, 20))}: ${found.join('; ')}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test.each<[says: string, driver: Driver, victim: number, columns: Record<string, string>]>([
    ['a comma before a failed row remapping', '470.256.02', 6, { 'remapped_rows.pending': '0,' }],
    ['a comma before uncorrected ECC errors', '535.261.03', 2, { 'retired_pages.pending': ',' }],
    ['no word for a card that is divided', '590.48.01', 5, { 'mig.mode.current': '' }],
    ['another word for a card that is divided', '535.261.03', 5, { 'mig.mode.current': 'Unknown' }],
    ['an index and an address that are none', '590.48.01', 3, { index: 'x', 'pci.bus_id': '-' }],
  ])('%s gives nothing away', async (_says, driver, victim, columns) => {
    expect(await faults(driver, victim, columns)).toEqual([]);
  });

  test('whichever and wherever, also two of them, also on a machine never seen before', async () => {
    const column = constantFrom(...IN_ROWS, ...IN_LISTS);
    const word = oneof(
      constantFrom(...JUNK),
      string({ unit: constantFrom(',', ' ', 'x', '\r', '[', ']', '\u001b', 'é') }),
    );
    await assert(
      asyncProperty(
        constantFrom(...DRIVERS),
        nat({ max: 7 }),
        dictionary(column, word, { minKeys: 1, maxKeys: 2 }),
        boolean(),
        async (driver, victim, columns, remembers) => {
          expect(await faults(driver, victim, columns, remembers)).toEqual([]);
        },
      ),
      { numRuns: 300, seed: 17 },
    );
  });

  test.each([
    ['a name of escape codes, quotes and backslashes', { name: '\u001b[31m"A\\100"\r,\u0007' }],
    ['a uuid and an index that are none', { uuid: 'x'.repeat(5000), index: '' }],
    ['a comma before the memory in use', { driver_version: '590,48' }],
  ])('leaves a page that promtool reads: %s', async (_says, columns) => {
    for (const remembers of [true, false]) {
      const { wholePage } = await lookedAt('590.48.01', 4, columns, remembers);
      expect(await promtool(wholePage)).toEqual({ code: 0, remarks: '' });
    }
  });
});
