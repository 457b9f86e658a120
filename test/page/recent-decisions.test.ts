import { expect, test } from 'vitest';
import type { AuditEntry } from '../../src/model/ports/audit.js';
import { rememberDecisions } from '../../src/page/recent-decisions.js';

const entry = (but: Partial<AuditEntry> = {}): AuditEntry => ({
  at: '2026-11-29T12:00:00.000Z',
  action: 'admit',
  principal: 'console',
  remote: '127.0.0.1',
  runId: 'train-17',
  outcome: 'wait',
  detail: '8 cards, none free',
  count: 2,
  image: 'registry.local/train:1.4',
  cards: [],
  containerId: null,
  tookMs: 12,
  ...but,
});

const decisionsOf = (keep?: number) => rememberDecisions({ write: () => undefined }, keep);

test('every entry goes on to the audit as it is', () => {
  const written: AuditEntry[] = [];
  const decisions = rememberDecisions({ write: (each) => written.push(each) }, 1);
  const entries = [entry(), entry(), entry({ runId: 'other' })];
  entries.forEach((each) => decisions.write(each));
  expect(written).toEqual(entries);
});

test('the newest stands first, and the oldest goes when there is no room', () => {
  const decisions = decisionsOf(2);
  for (const runId of ['a', 'b', 'c']) decisions.write(entry({ runId }));
  expect(decisions.recent().map(({ runId }) => runId)).toEqual(['c', 'b']);
});

test('a job that is told to wait again and again takes one place and pushes nobody out', () => {
  const decisions = decisionsOf(3);
  decisions.write(entry({ runId: 'other', outcome: 'admitted' }));
  for (let second = 0; second < 50; second += 1) {
    const at = `2026-11-29T12:00:${String(second).padStart(2, '0')}.000Z`;
    decisions.write(entry({ at }));
    decisions.write(entry({ at, runId: 'also-waits' }));
  }
  const seen = decisions
    .recent()
    .map(({ runId, times, firstAt, at }) => [runId, times, firstAt.slice(17, 19), at.slice(17, 19)]);
  expect(seen).toEqual([
    ['also-waits', 50, '00', '49'],
    ['train-17', 50, '00', '49'],
    ['other', 1, '00', '00'],
  ]);
});

test('another outcome of the same run is told apart, and so is the first outcome when it comes back', () => {
  const decisions = decisionsOf();
  for (const outcome of ['wait', 'admitted', 'wait', 'wait']) decisions.write(entry({ outcome }));
  expect(decisions.recent().map(({ outcome, times }) => [outcome, times])).toEqual([
    ['wait', 2],
    ['admitted', 1],
    ['wait', 1],
  ]);
});

test('callers who are turned away share a place for each name, and cards of one action do not', () => {
  const decisions = decisionsOf();
  for (let each = 0; each < 9; each += 1) {
    decisions.write(entry({ runId: null, principal: '?', outcome: 'unauthenticated' }));
  }
  decisions.write(entry({ action: 'exclude', runId: null, outcome: 'excluded', cards: ['GPU-0'] }));
  decisions.write(entry({ action: 'exclude', runId: null, outcome: 'excluded', cards: ['GPU-1'] }));
  expect(decisions.recent().map(({ times }) => times)).toEqual([1, 1, 9]);
});

test('the words of Docker are cut where they would fill the page', () => {
  const decisions = decisionsOf();
  decisions.write(entry({ detail: 'x'.repeat(100_000) }));
  expect(decisions.recent()[0]?.detail).toHaveLength(601);
});
