import { describe, expect, test } from 'vitest';
import { COLUMNS, READINGS } from '../../src/model/columns.js';
import { healthyMachine } from '../../src/stand-in/machine/build-machine.js';
import { BRANCHES, takes } from '../support/columns.js';
import { said } from './said.js';

// The stand-in's fields are written after the real program, the table of columns after what the gate needs: two witnesses that
// must agree, so that a column which one of them lacks, or has on another branch, is told here.

const names = READINGS.flatMap((reading) => COLUMNS[reading].names);
const machineOn = (branch: number) => healthyMachine({ cards: 1, driver: `${branch}.10`, model: 'A100' });
const isTaken = (branch: number, query: string, field: string): boolean =>
  said(machineOn(branch), `${query}=${field} --format=csv`).rc === 0;

describe('the stand-in takes a name on the branches that the table names, and on no other', () => {
  test.each(names)('$field', (name) => {
    const taken = BRANCHES.filter((branch) => isTaken(branch, '--query-gpu', name.field));
    expect(taken).toEqual(BRANCHES.filter((branch) => takes(branch, name)));
  });
});

describe('a query of its own has its columns from the branch on that the table names', () => {
  const columns = READINGS.map((reading) => COLUMNS[reading]);
  const own = columns.flatMap(({ names: [{ field }], ownQuery }) =>
    ownQuery === undefined ? [] : [{ field, ...ownQuery }],
  );
  test.each(own)('$field by $option', ({ field, option, from }) => {
    const taken = BRANCHES.filter((branch) => isTaken(branch, option, `gpu_uuid,${field}`));
    expect(taken).toEqual(BRANCHES.filter((branch) => branch >= from));
  });
});
