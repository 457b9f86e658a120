import { describe, expect, test } from 'vitest';
import { cardIndex, HEALTH_REASONS, type HealthReason } from '../../src/model/card.js';
import { COLUMNS, READINGS } from '../../src/model/columns.js';
import type { GpuRow, HealthReadings, Reading, Snapshot } from '../../src/model/snapshot.js';
import { judge } from '../../src/occupancy/judge.js';
import { wellHealth } from '../support/columns.js';
import {
  absent,
  blind,
  cannotSay,
  denied,
  gpus,
  lost,
  remember,
  row,
  rules,
  snapshot,
  unreadable,
  value,
} from './make.js';

const judged = (but: Parameters<typeof row>[1], look: Partial<Snapshot> = {}) => {
  const [card] = judge(snapshot({ gpus: gpus([row(0, but)]), ...look }), rules()).cards;
  if (card === undefined) throw new Error('expected one card');
  return card;
};

type Column = keyof HealthReadings;
describe('a health column', () => {
  test.each<[Column, string, HealthReason, boolean | undefined]>([
    ['retiredPagesPending', 'Yes', 'retired_pages_pending', true],
    ['retiredPagesPending', 'No', 'retired_pages_pending', false],
    ['eccUncorrected', '1', 'ecc_uncorrected', true],
    ['eccUncorrected', '0', 'ecc_uncorrected', false],
    ['eccUncorrected', 'many', 'ecc_uncorrected', undefined],
    ['hwSlowdown', 'Active', 'hw_slowdown', true],
    ['hwSlowdown', 'Not Active', 'hw_slowdown', false],
    ['hwSlowdown', 'Perhaps', 'hw_slowdown', undefined],
    ['rowRemapFailure', 'Yes', 'row_remap_failure', true],
    ['rowRemapFailure', '1', 'row_remap_failure', true],
    ['rowRemapFailure', '0', 'row_remap_failure', false],
    ['recoveryAction', 'None', 'recovery_action', false],
    ['recoveryAction', 'Reset', 'recovery_action', true],
    ['recoveryAction', 'Drain P2P', 'recovery_action', true],
    ['recoveryAction', 'Drain and Reset', 'recovery_action', true],
    ['recoveryAction', 'Send Flowers', 'recovery_action', true],
    ['resetRequired', 'Yes', 'reset_required', true],
    ['resetRequired', 'No', 'reset_required', false],
    ['fabricState', 'Completed', 'fabric', false],
    ['fabricState', 'state  Completed', 'fabric', false],
    ['fabricState', 'In Progress', 'fabric', true],
    ['fabricState', 'state  Not Started', 'fabric', true],
    ['fabricState', 'Not Supported', 'fabric', undefined],
    ['fabricState', 'N/A', 'fabric', undefined],
  ])('%s of %s says %s: %s', (column, words, reason, holds) => {
    const card = judged({ health: { [column]: value(words) } });
    expect(card.health[reason]).toBe(holds);
    expect(card.unhealthy.map((finding) => finding.reason)).toEqual(holds === true ? [reason] : []);
    expect(card.state).toBe(holds === true ? 'unhealthy' : 'free');
  });

  const columns = READINGS.flatMap((reading) => {
    const { finding } = COLUMNS[reading];
    return finding?.severity === 'unhealthy' ? [[reading, finding.reason] as const] : [];
  });
  const silent: [string, Reading<never>][] = [
    ['is not there', absent],
    ['cannot say', cannotSay],
    ['may not be asked', denied],
    ['is unreadable', unreadable],
  ];
  test.each(
    columns.flatMap(([column, reason]) => silent.map(([says, reading]) => ({ column, reason, says, reading }))),
  )('$column that $says says nothing of $reason and takes no card out', ({ column, reason, reading }) => {
    const card = judged({ health: { [column]: reading } });
    expect(card.state).toBe('free');
    expect(card.health).not.toHaveProperty(reason);
  });

  test.each(columns)('%s with an error word is an error of the driver, and says nothing of %s', (column, reason) => {
    const card = judged({ health: { [column]: lost } });
    expect(card.state).toBe('unhealthy');
    expect(card.unhealthy.map((finding) => finding.reason)).toEqual(['driver_error']);
    expect(card.health).not.toHaveProperty(reason);
  });

  test.each([
    ['Success', false],
    ['status Success', false],
    ['[N/A]', false],
    ['Failure', true],
  ])('the fabric that completed with status %s is unhealthy: %s', (status, holds) => {
    const health = { fabricState: value('Completed'), fabricStatus: value(status) };
    expect(judged({ health }).health.fabric).toBe(holds);
  });

  test('the fabric’s status counts only once its state is completed', () => {
    for (const fabricState of [cannotSay, value('In Progress'), value('Not Supported')]) {
      const { unhealthy } = judged({ health: { fabricState, fabricStatus: value('Failure') } });
      expect(unhealthy.filter(({ detail }) => detail.includes('Failure'))).toEqual([]);
    }
  });

  test('of remapped rows that wait for a reset warns and takes no card out', () => {
    for (const words of ['Yes', '1']) {
      const card = judged({ health: { rowRemapPending: value(words) } });
      expect(card.state).toBe('free');
      expect(card.warnings).toEqual([
        { reason: 'row_remap_pending', detail: 'a remapped row takes effect at the next reset' },
      ]);
      expect(card.warned).toMatchObject({ row_remap_pending: true });
    }
    expect(judged({ health: { rowRemapPending: cannotSay } }).warned).not.toHaveProperty('row_remap_pending');
  });

  test('clears as soon as the driver stops reporting (case H01)', () => {
    const rows = Array.from({ length: 16 }, (_, number) => row(number));
    const sick = rows.with(14, row(14, { health: { recoveryAction: value('Reset') } }));
    const states = (now: readonly GpuRow[]) =>
      judge(snapshot({ gpus: gpus(now) }), rules()).cards.map((card) => card.state);
    expect(states(sick)).toEqual(Array(16).fill('free').with(14, 'unhealthy'));
    expect(states(rows)).toEqual(Array(16).fill('free'));
  });

  test('tells its finding in words for a person', () => {
    const health = {
      eccUncorrected: value('3'),
      recoveryAction: value('Drain P2P'),
      fabricState: value('state  In Progress'),
    };
    expect(judged({ health }).unhealthy).toEqual([
      { reason: 'ecc_uncorrected', detail: '3 uncorrected ECC errors since the driver was loaded' },
      { reason: 'recovery_action', detail: 'the driver asks for: Drain P2P' },
      { reason: 'fabric', detail: 'the fabric is not ready: In Progress' },
    ]);
  });

  test('counts by what its row says, also when another health query failed', () => {
    const look = { health: blind('exit', 'the query for remapped rows exited 255') };
    expect(judged({ health: { eccUncorrected: value('3') } }, look).state).toBe('unhealthy');
    expect(judged({}, look).state).toBe('free');
  });
});

describe('the driver’s own words', () => {
  test.each<[string, Parameters<typeof row>[1], string, string | null]>([
    [
      'an error in memory in use',
      { memoryUsedMib: lost },
      'unhealthy',
      'the driver answers [GPU is lost] for memory in use',
    ],
    [
      'the same error in two columns is one sentence',
      { memoryUsedMib: lost, health: { eccUncorrected: lost } },
      'unhealthy',
      'the driver answers [GPU is lost] for memory in use, ECC errors',
    ],
    ['an error in the MIG mode', { migMode: lost }, 'unhealthy', 'the driver answers [GPU is lost] for MIG mode'],
    ['no uuid', { uuid: null }, 'unhealthy', 'the driver does not say which card this is'],
    [
      'no index',
      { index: null, readings: { index: unreadable } },
      'unhealthy',
      'the driver does not say which card this is',
    ],
    [
      'a uuid of another form, as a Tegra has',
      { uuid: null, readings: { uuid: { kind: 'unreadable', words: 'ba7a8e1d-9f00-5ee2-b5d6-7ec3eca1a2f7' } } },
      'unknown',
      null,
    ],
    ['an index that another card has', { index: null, readings: { index: value(3) } }, 'unknown', null],
    [
      'an error of the card in its compute mode',
      { readings: { computeMode: lost } },
      'unhealthy',
      'the driver answers [GPU is lost] for compute mode',
    ],
    ['a compute mode that cannot be said', { readings: { computeMode: cannotSay } }, 'free', null],
    ['no uuid for want of permission', { uuid: null, memoryUsedMib: denied }, 'unknown', null],
    ['memory in use that may not be asked', { memoryUsedMib: denied }, 'unknown', null],
    ['a MIG mode that may not be asked', { migMode: denied }, 'unknown', null],
    ['a MIG mode that is neither on nor off', { migMode: value('Maybe') }, 'unknown', null],
    ['a MIG mode without a word', { migMode: unreadable }, 'unknown', null],
    ['memory in use that cannot be said', { memoryUsedMib: cannotSay }, 'unknown', null],
    ['memory in use that is no number', { memoryUsedMib: unreadable }, 'unknown', null],
    ['memory in use that the driver does not know', { memoryUsedMib: absent }, 'unknown', null],
    ['a short row', { short: true }, 'unknown', null],
    ['a short row that breaks off before its uuid', { short: true, uuid: null }, 'unknown', null],
    ['no name', { name: null }, 'free', null],
    ['no bus address', { pciBusId: null }, 'free', null],
  ])('%s', (_says, but, state, detail) => {
    const card = judged(but);
    expect(card.state).toBe(state);
    expect(card.unhealthy).toEqual(detail === null ? [] : [{ reason: 'driver_error', detail }]);
  });

  test('in a column that is only shown leave that value out', () => {
    const card = judged({ memoryTotalMib: unreadable, persistenceMode: { kind: 'error', words: '[Unknown Error]' } });
    expect(card).toMatchObject({ state: 'free', memorySizeBytes: null, persistenceMode: null });
    expect(card.memoryUsedBytes).toBe(4 * 1024 * 1024);
  });

  test.each([
    ['a complaint takes its card out with these words', false, 'unhealthy', 'driver_error'],
    ['a complaint about permissions hides its card', true, 'unknown', undefined],
  ])('%s', (_says, isDenied, state, reason) => {
    const broken = { index: cardIndex(1), pciBusId: null, words: 'GPU is lost', denied: isDenied };
    const look = snapshot({ gpus: gpus([row(0)], { broken: [broken], driverCount: 2 }), remembered: [remember(1)] });
    const [well, card] = judge(look, rules()).cards;
    expect(well?.state).toBe('free');
    expect(card).toMatchObject({ state, uuid: remember(1).uuid });
    expect(card?.unhealthy[0]?.reason).toBe(reason);
    expect(card?.health).toEqual(isDenied ? { missing: false } : { driver_error: true, missing: false });
  });

  test('are not needed for a card that is missing', () => {
    const card = judge(snapshot({ gpus: gpus([], { driverCount: 0 }), remembered: [remember(0)] }), rules()).cards[0];
    expect(card).toMatchObject({ state: 'unhealthy', health: { missing: true }, name: remember(0).name });
  });
});

describe('the compute mode', () => {
  test.each([
    ['Default', 'free', false],
    ['Exclusive_Process', 'free', true],
    ['Exclusive_Thread', 'free', true],
    ['Prohibited', 'excluded', undefined],
  ])('%s makes a card %s, and warns: %s', (mode, state, warns) => {
    const card = judged({ readings: { computeMode: value(mode) } });
    expect(card.state).toBe(state);
    expect(card.warned.exclusive_process).toBe(warns);
    expect(card.excluded?.by).toBe(state === 'excluded' ? 'compute_mode' : undefined);
  });
});

test('a card that says everything has a verdict for every reason', () => {
  expect(judged({ health: wellHealth() }, { kernel: { kind: 'seen', value: null, tookMs: 1 } }).health).toEqual(
    Object.fromEntries(HEALTH_REASONS.map((each) => [each, false])),
  );
});
