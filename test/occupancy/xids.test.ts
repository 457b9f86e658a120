import { describe, expect, test } from 'vitest';
import type { Snapshot } from '../../src/model/snapshot.js';
import type { XidFinding } from '../../src/model/xid.js';
import { judge } from '../../src/occupancy/judge.js';
import { gpus, job, docker, remember, row, rules, seen, snapshot, uuidOf } from './make.js';

const LINE = 'NVRM: Xid (PCI:0000:11:00): 79, GPU has fallen off the bus.';
const fallen = (but: Partial<XidFinding> = {}): XidFinding => ({
  uuid: uuidOf(1),
  slot: '0:11:00',
  code: 79,
  line: LINE,
  ...but,
});
const judged = (look: Partial<Snapshot>, checkHealth = true) =>
  judge(snapshot({ gpus: gpus([row(0), row(1)]), kernel: seen(null), ...look }), rules({ checkHealth })).cards;

describe('an Xid of the hardware', () => {
  test('takes its card out with the code and the line, and no other', () => {
    const [well, ill] = judged({ xids: [fallen()] });
    expect([well?.state, ill?.state]).toEqual(['free', 'unhealthy']);
    expect(ill?.unhealthy).toEqual([{ reason: 'xid', detail: `Xid 79 (the card has fallen off the bus): ${LINE}` }]);
    expect([well?.health.xid, ill?.health.xid]).toEqual([false, true]);
  });

  test('is found by the address where no card was known there', () => {
    expect(judged({ xids: [fallen({ uuid: null })] }).map(({ state }) => state)).toEqual(['free', 'unhealthy']);
    expect(judged({ xids: [fallen({ uuid: null, slot: '0:99:00' })] }).map(({ state }) => state)).toEqual([
      'free',
      'free',
    ]);
  });

  test('names a card that is gone, by the books', () => {
    const look = { gpus: gpus([row(0)], { driverCount: 1 }), remembered: [remember(0), remember(1)], xids: [fallen()] };
    expect(judged(look)[1]?.unhealthy.map(({ reason }) => reason)).toEqual(['missing', 'xid']);
  });

  test('is shown for a card that a job holds, which stays held', () => {
    const [, held] = judged({ xids: [fallen()], docker: docker(job('train', [1])) });
    expect(held).toMatchObject({ state: 'job_held', unhealthy: [{ reason: 'xid' }] });
  });

  test('stands while the log cannot be read, and of other cards nothing is said then', () => {
    const [well, ill] = judged({ xids: [fallen()], kernel: { kind: 'off' } });
    expect([well?.health.xid, ill?.health.xid]).toEqual([undefined, true]);
  });

  test('counts for nothing where health is not checked', () => {
    expect(judged({ xids: [fallen()] }, false).map(({ state }) => state)).toEqual(['free', 'free']);
  });
});
