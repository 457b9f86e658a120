import { describe, expect, test } from 'vitest';
import type { Reading, Snapshot } from '../../src/model/snapshot.js';
import { judge } from '../../src/occupancy/judge.js';
import {
  blind,
  cannotSay,
  container,
  docker,
  gpus,
  processOn,
  remember,
  row,
  rules,
  seen,
  snapshot,
  uuidOf,
  value,
} from './make.js';

const judged = (memoryUsedMib: Reading<number>, look: Partial<Snapshot> = {}, memoryBusyMib = 512) => {
  const [card] = judge(snapshot({ gpus: gpus([row(0, { memoryUsedMib })]), ...look }), rules({ memoryBusyMib })).cards;
  if (card === undefined) throw new Error('expected one card');
  return card;
};

describe('a card', () => {
  test.each<[string, number, number, string]>([
    ['just below the limit is free', 511, 512, 'free'],
    ['at the limit is used', 512, 512, 'external'],
    ['above the limit is used', 593, 512, 'external'],
    ['with a display is free under a limit that fits it (case E01)', 1585, 2048, 'free'],
  ])('%s', (_says, used, limit, state) => {
    expect(judged(value(used), {}, limit).state).toBe(state);
  });

  test.each<[string, Reading<number>, Partial<Snapshot>, string]>([
    [
      'with a process is used, however little memory it has (case E04)',
      value(27),
      { processes: seen([processOn(0)]) },
      'external',
    ],
    [
      'with a process is used where memory cannot be said (case S01)',
      cannotSay,
      { processes: seen([processOn(0)]) },
      'external',
    ],
    ['without one is unknown where memory cannot be said (case S01)', cannotSay, {}, 'unknown'],
    ['is not used by a process on another card', value(4), { processes: seen([processOn(1)]) }, 'free'],
    ['is judged by memory alone while the list is blind', value(4), { processes: blind() }, 'free'],
    [
      'that a container was given is used where memory cannot be said',
      cannotSay,
      { docker: docker(container('jupyter', { pinned: { kind: 'some', ids: ['0'] } })) },
      'external',
    ],
  ])('%s', (_says, used, look, state) => expect(judged(used, look).state).toBe(state));

  test('tells memory without a process from a process', () => {
    expect(judged(value(593)).external).toEqual({ processes: [], memoryMib: 593, containers: [] });
    expect(judged(value(27), { processes: seen([processOn(0, { memoryMib: null })]) }).external).toEqual({
      processes: [{ pid: 4242, name: 'python', memoryMib: null }],
      memoryMib: null,
      containers: [],
    });
  });

  test('counts its processes, and does not count where the list could not be had', () => {
    expect(judged(value(4), { processes: seen([processOn(0), processOn(0, { pid: 5 })]) }).processes).toBe(2);
    expect(judged(value(4)).processes).toBe(0);
    expect(judged(value(4), { processes: blind() }).processes).toBeNull();
  });

  test.each<[string, Partial<Snapshot>, number | null]>([
    ['whose own list the driver could not read', { unlisted: [uuidOf(0)] }, null],
    ['of which the list of another could not be read', { unlisted: [uuidOf(1)] }, 0],
    ['that is missing', { gpus: gpus([row(1)]), remembered: [remember(0), remember(1)] }, null],
    ['that does not say who it is', { gpus: gpus([row(0, { uuid: null })]), remembered: [remember(0)] }, null],
    ['that is not seen', { gpus: blind(), remembered: [remember(0)] }, 0],
    [
      'that is not seen and has one listed',
      { gpus: blind(), remembered: [remember(0)], processes: seen([processOn(0)]) },
      1,
    ],
  ])('%s has as many processes as were told, and no number where none could be', (_says, look, processes) => {
    expect(judged(value(4), look).processes).toBe(processes);
  });
});

describe('the warning of a blind process list', () => {
  test.each<[string, Reading<number>, Partial<Snapshot>, boolean | undefined]>([
    ['is given when memory is in use and nobody is listed (case E05)', value(10_916), {}, true],
    ['is not given for a card that somebody is listed on', value(10_916), { processes: seen([processOn(0)]) }, false],
    ['is not given for an idle card', value(149), {}, false],
    ['cannot be given when the list could not be had', value(10_916), { processes: blind() }, undefined],
    ['cannot be given when memory cannot be said', cannotSay, {}, undefined],
  ])('%s', (_says, used, look, warned) => {
    const card = judged(used, look);
    expect(card.warned.process_list_blind).toBe(warned);
    expect(card.warnings.map(({ reason }) => reason)).toEqual(warned === true ? ['process_list_blind'] : []);
  });
});
