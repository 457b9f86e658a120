import { expect, test } from 'vitest';
import { burstAudit } from '../../src/http/burst-audit.js';
import type { AuditEntry } from '../../src/model/ports/audit.js';

const entry: AuditEntry = {
  at: '2026-11-29T12:00:00.000Z',
  action: 'call',
  principal: '?',
  remote: '10.0.0.1',
  runId: null,
  outcome: 'unauthenticated',
  detail: null,
  count: null,
  image: null,
  cards: [],
  containerId: null,
  tookMs: 0,
};

/** An audit, and a clock that is moved by hand. */
function made() {
  const lines: [string, number | undefined][] = [];
  let now = 0;
  const waiting: { at: number; act: () => void }[] = [];
  const clock = {
    monotonic: () => now,
    after(ms: number, act: () => void) {
      waiting.push({ at: now + ms, act });
      return () => undefined;
    },
  };
  const written: AuditEntry[] = [];
  const write = (line: AuditEntry): void => {
    written.push(line);
    lines.push([line.remote ?? '', line.times]);
  };
  const pass = (ms: number): void => {
    for (const end = now + ms; ;) {
      const [next] = waiting.filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at);
      if (next === undefined) return void (now = end);
      now = next.at;
      waiting.splice(waiting.indexOf(next), 1);
      next.act();
    }
  };
  return { audit: burstAudit({ write }, clock), lines, written, pass, waiting };
}

test('of a burst the first is written at once, and the rest is one line with its number when it is over', () => {
  const { audit, lines, pass, waiting } = made();
  for (let at = 0; at < 5000; at += 1) {
    audit.write({ ...entry, detail: `attempt ${at}` });
    if (at % 1000 === 999) pass(900);
  }
  expect(lines).toEqual([['10.0.0.1', undefined]]);
  pass(2100);
  expect(lines).toEqual([
    ['10.0.0.1', undefined],
    ['10.0.0.1', 4999],
  ]);
  expect(waiting).toEqual([]);
});

test('one that comes alone leaves one line, and the next a second later another', () => {
  const { audit, lines, pass } = made();
  audit.write(entry);
  pass(3000);
  audit.write(entry);
  pass(3000);
  expect(lines).toHaveLength(2);
});

test('a burst that does not end is told of once a minute', () => {
  const { audit, lines, pass } = made();
  for (let second = 0; second < 180; second += 0.5) {
    audit.write(entry);
    pass(500);
  }
  pass(3000);
  expect(lines.length).toBeGreaterThanOrEqual(3);
  expect(lines.length).toBeLessThanOrEqual(5);
  expect(lines.reduce((sum, [, times]) => sum + (times ?? 1), 0)).toBe(360);
});

test('callers are told apart by where they are, who they are and what they were told', () => {
  const { audit, written } = made();
  const kinds = [
    entry,
    { ...entry, remote: '10.0.0.2' },
    { ...entry, principal: 'reader', outcome: 'forbidden' },
    { ...entry, action: 'dry_run' as const, outcome: 'policy_denied' },
  ];
  for (const each of [...kinds, ...kinds]) audit.write(each);
  expect(written).toEqual(kinds);
});

test('decisions are never held back, however many there are', () => {
  const { audit, written } = made();
  const decision = { ...entry, action: 'admit' as const, outcome: 'policy_denied', runId: 'a' };
  for (let at = 0; at < 20; at += 1) audit.write(decision);
  expect(written).toHaveLength(20);
});

test('addresses without number do not fill the memory, and each caller is in the sum', () => {
  const { audit, lines, pass, waiting } = made();
  for (let at = 0; at < 10_000; at += 1) audit.write({ ...entry, remote: `fd00::${at}` });
  expect(waiting.length).toBeLessThan(1010);
  expect(lines.length).toBeLessThan(1010);
  pass(5000);
  expect(lines.reduce((sum, [, times]) => sum + (times ?? 1), 0)).toBe(10_000);
});

test('at the end what was held back is written', () => {
  const { audit, lines } = made();
  audit.write(entry);
  audit.write(entry);
  audit.flush();
  expect(lines).toEqual([
    ['10.0.0.1', undefined],
    ['10.0.0.1', 1],
  ]);
});
