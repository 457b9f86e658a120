import { describe, expect, test } from 'vitest';
import type { ColumnFinding, Meaning } from '../../src/model/column.js';
import { COLUMNS } from '../../src/model/columns.js';
import type { Reading, Readings, Snapshot } from '../../src/model/snapshot.js';
import { cardAt, healthyMachine } from '../../src/stand-in/machine/build-machine.js';
import type { Machine } from '../../src/stand-in/machine/machine.js';
import { BRANCHES, readingsOn } from '../support/columns.js';
import { parseMetrics } from '../support/metrics-page.js';
import { watchMachine, type Look } from './watched-machine.js';

/** Every column of the table on every branch: asked for, read into its own reading, and judged by what it says. */

const VICTIM = 2;
const columnsOn = (branch: number) => readingsOn(branch).map((each) => ({ branch, ...each, ...COLUMNS[each.reading] }));
const all = BRANCHES.flatMap(columnsOn);

/** Four cards of which one says these words in these columns. */
function machineOn(branch: number, columns: Readonly<Record<string, string>> = {}): Machine {
  const machine = healthyMachine({ cards: 4, driver: `${branch}.10`, model: 'A100' });
  cardAt(machine, VICTIM).columns = columns;
  return machine;
}

function readingsIn({ gpus }: Snapshot, at: number): Readings {
  const row = gpus.kind === 'seen' ? gpus.value.rows[at] : undefined;
  if (row === undefined) throw new Error(`no row ${at} in ${JSON.stringify(gpus)}`);
  return row.readings;
}

describe('in the end a driver is asked for every column that it has, under a name that it knows', () => {
  test.each(BRANCHES)('%i', async (branch) => {
    const watched = watchMachine(machineOn(branch));
    const accepted: string[] = [];
    watched.retell = (stdout, args) => {
      const [, fields] = /--query-(?:gpu|remapped-rows)=(\S+)/.exec(args.join(' ')) ?? [];
      if (fields !== undefined && !/not a valid field|not recognized/.test(stdout)) accepted.push(...fields.split(','));
      return stdout;
    };
    const { snapshot } = await watched.look();
    const wanted = readingsOn(branch);
    const asked = accepted.filter((field) => field !== 'gpu_uuid');
    expect(asked.toSorted()).toEqual(wanted.map(({ field }) => field).toSorted());
    const said = Object.entries<Reading<unknown>>({ ...readingsIn(snapshot, 0) }).filter(
      ([, { kind }]) => kind !== 'absent',
    );
    expect(said.map(([reading]) => reading).toSorted()).toEqual(wanted.map(({ reading }) => reading).toSorted());
    expect(snapshot.health.kind).toBe('seen');
  });
});

describe('a card that is lost is unhealthy in whichever column the driver says so', () => {
  test.each(all)('$branch: $field', async ({ branch, field, reading, label }) => {
    const words = '[GPU is lost]';
    const { occupancy, snapshot } = await watchMachine(machineOn(branch, { [field]: words })).look();
    const errors = Object.entries<Reading<unknown>>({ ...readingsIn(snapshot, VICTIM) }).filter(
      ([, { kind }]) => kind === 'error',
    );
    expect(errors).toEqual([[reading, { kind: 'error', words }]]);
    expect(occupancy.cards.map(({ state }) => state)).toEqual(['free', 'free', 'unhealthy', 'free']);
    expect(occupancy.cards[VICTIM]?.unhealthy).toEqual([
      { reason: 'driver_error', detail: `the driver answers ${words} for ${label}` },
    ]);
  });
});

/** Every word of a finding, with what it means: `bad` for the finding, `good` for the opposite, `silent` for neither. */
function wordsOf(means: Meaning): readonly (readonly [word: string, says: boolean | undefined])[] {
  switch (means.kind) {
    case 'one_of':
      return [...means.bad.map((word) => [word, true] as const), ...means.good.map((word) => [word, false] as const)];
    case 'all_but':
      return [
        ['Words of next year', true],
        ...means.good.map((word) => [word, false] as const),
        ...means.silent.map((word) => [word, undefined] as const),
      ];
    case 'above':
      return [
        [String(means.limit + 1), true],
        [String(means.limit), false],
      ];
    default:
      return means satisfies never;
  }
}

/** The columns of a card in which this finding's word stands, and what it asks of another column. */
async function lookFor(branch: number, field: string, word: string, finding: ColumnFinding): Promise<Look> {
  const { onlyWhile } = finding;
  const other = onlyWhile && readingsOn(branch).find(({ reading }) => reading === onlyWhile.reading);
  const besides = onlyWhile && other ? { [other.field]: onlyWhile.says } : {};
  return watchMachine(machineOn(branch, { ...besides, [field]: word })).look();
}

const findings = all.flatMap(({ branch, field, finding }) =>
  finding === undefined ? [] : [{ branch, field, finding }],
);

describe('a finding is made of the words of its column, and shown by name on the page', () => {
  test.each(findings)('$branch: $field', async ({ branch, field, finding }) => {
    for (const [word, says] of wordsOf(finding.means)) {
      const { occupancy, wholePage } = await lookFor(branch, field, word, finding);
      const card = occupancy.cards[VICTIM];
      const isWarning = finding.severity === 'warning';
      expect(card?.state, word).toBe(says === true && !isWarning ? 'unhealthy' : 'free');
      const told = isWarning ? card?.warnings : card?.unhealthy;
      expect(told, word).toEqual(says === true ? [{ reason: finding.reason, detail: finding.detail(word) }] : []);
      const name = `tuneplane_gpu_card_${isWarning ? 'warning' : 'unhealthy'}`;
      const series = `${name}{index="${VICTIM}",reason="${finding.reason}",uuid="${card?.uuid}"}`;
      // The other column of a reason may speak for it.
      const silent = finding.onlyWhile === undefined ? undefined : 0;
      expect(parseMetrics(wholePage).get(series), word).toBe(says === undefined ? silent : Number(says));
    }
  });
});

test('what a person reads of each finding is what it was when it was last read', async () => {
  const lines = new Map<string, number[]>();
  for (const { branch, field, finding } of findings) {
    const [bad] = wordsOf(finding.means).flatMap(([word, says]) => (says === true ? [word] : []));
    const { occupancy } = await lookFor(branch, field, bad ?? '', finding);
    const warnings = occupancy.cards.flatMap((card) =>
      card.warnings.map(({ reason, detail }) => `${reason}: ${detail}`),
    );
    const line = [`${field} says ${bad}`, occupancy.explain, ...warnings].join(' | ');
    lines.set(line, [...(lines.get(line) ?? []), branch]);
  }
  const text = Array.from(lines, ([line, branches]) => `# ${branches.join(', ')}\n${line}\n`).join('\n');
  await expect(text).toMatchFileSnapshot('golden/_findings.txt');
});
