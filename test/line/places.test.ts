import { describe, expect, test } from 'vitest';
import { createPlaces, MOST_PLACES } from '../../src/line/places.js';
import type { Decision, JobSpec } from '../../src/model/admission.js';
import type { KeptPlace } from '../../src/model/line.js';
import type { Asking, Line } from '../../src/model/ports/line.js';
import { refuse } from '../../src/model/refuse.js';
import { handClock } from '../metrics/occupancies.js';
import { jobSpec } from '../support/admissions.js';

const wait: Decision = { kind: 'wait', requested: 1, free: 0, retryAfterSeconds: 5, explain: 'full', reasons: [] };
const gone: Decision = { kind: 'client_gone' };

interface TestLine extends Line {
  readonly clock: ReturnType<typeof handClock>;
  readonly keeps: KeptPlace[][];
  readonly ends: () => number;
}

function lineOf(kept: readonly KeptPlace[] = [], clock = handClock()): TestLine {
  const keeps: KeptPlace[][] = [];
  let ends = 0;
  const store = { kept, keep: (places: readonly KeptPlace[]) => void keeps.push([...places]) };
  const line = createPlaces({ clock, store, onEnd: () => void (ends += 1), onTakenAway: () => {} });
  return { ...line, clock, keeps, ends: () => ends };
}

function ask(line: Line, spec: JobSpec, principal = 'ada'): Asking {
  const asking = line.arrive(spec, principal);
  if ('kind' in asking) throw new Error(asking.detail);
  expect(asking.take()).toBe(null);
  return asking;
}

function askAndWait(line: Line, runId: string, principal = 'ada'): void {
  ask(line, jobSpec(runId), principal).done(wait);
}

const names = (line: Line): string[] => line.places().map(({ runId }) => runId);

describe('a place', () => {
  test('is by who came first, and asking again moves nobody', () => {
    const line = lineOf();
    for (const run of ['a', 'b', 'c']) {
      askAndWait(line, run);
      line.clock.forward(1000);
    }
    askAndWait(line, 'a');
    expect(names(line)).toEqual(['a', 'b', 'c']);
    expect(line.place('c')).toMatchObject({ position: 3, waitedMs: 1000, principal: 'ada', count: 1 });
  });

  test('lapses 30 s after the last answer', () => {
    const line = lineOf();
    askAndWait(line, 'a');
    line.clock.forward(29_999);
    expect(names(line)).toEqual(['a']);
    askAndWait(line, 'a');
    line.clock.forward(29_999);
    expect(names(line)).toEqual(['a']);
    line.clock.forward(1);
    expect(names(line)).toEqual([]);
    expect(line.ends()).toBe(1);
  });

  test('lapses after three times the pause its caller was told, where that is longer', () => {
    const line = lineOf();
    ask(line, jobSpec('a')).done({ ...wait, retryAfterSeconds: 20 });
    line.clock.forward(59_999);
    expect(names(line)).toEqual(['a']);
    line.clock.forward(1);
    expect(names(line)).toEqual([]);
  });

  test('does not lapse while a request for it goes on', () => {
    const line = lineOf();
    const held = ask(line, jobSpec('a'));
    line.clock.forward(300_000);
    expect(names(line)).toEqual(['a']);
    held.done(wait);
    line.clock.forward(29_999);
    expect(names(line)).toEqual(['a']);
  });

  test.each<[string, Decision, boolean]>([
    ['told to wait', wait, true],
    ['whose caller hung up', gone, true],
    ['answered docker_unavailable', refuse('docker_unavailable', { detail: '' }), true],
    ['answered lock_unavailable', refuse('lock_unavailable', { detail: '' }), true],
    ['answered busy', refuse('busy', { detail: '' }), true],
    ['answered draining', refuse('draining', { detail: '' }), true],
    ['whose image could not be pulled just now', refuse('image_pull_failed', { detail: '' }), true],
    ['refused for good', refuse('unsatisfiable', { detail: '' }), false],
    ['whose start failed', refuse('start_failed', { detail: '' }), false],
    ['that was stopped', refuse('stopped', { detail: '' }), false],
  ])('of a run %s stays or ends', (_says, decision, stays) => {
    const line = lineOf();
    ask(line, jobSpec('a')).done(decision);
    expect(names(line)).toEqual(stays ? ['a'] : []);
  });

  test('starts anew with another request of the same caller, and is nobody else’s to change', () => {
    const line = lineOf();
    askAndWait(line, 'a');
    line.clock.forward(1000);
    askAndWait(line, 'b');
    ask(line, jobSpec('a', 2)).done(wait);
    expect(names(line)).toEqual(['b', 'a']);
    expect(line.arrive(jobSpec('a', 3), 'bob')).toMatchObject({ code: 'run_id_reused' });
    expect(line.place('a')).toMatchObject({ count: 2 });
  });

  test('that its caller replaces is taken from the request that waited for it', () => {
    const line = lineOf();
    const first = ask(line, jobSpec('a'));
    const second = ask(line, jobSpec('a', 2));
    expect([first.takenAway, second.takenAway]).toEqual(['replaced', null]);
    first.done(refuse('run_id_reused', { detail: '' }));
    expect(line.place('a')).toMatchObject({ count: 2 });
  });

  test('keeps no more labels than a file of a thousand can hold', () => {
    const line = lineOf();
    const labels = { team: 'vision', essay: 'x'.repeat(100_000), late: 'y' };
    ask(line, jobSpec('a', 1, { labels })).done(wait);
    expect(line.place('a')?.labels).toEqual({ team: 'vision' });
  });

  test('is taken away from those who ask, once and for all', () => {
    const line = lineOf();
    const held = ask(line, jobSpec('a'));
    expect(line.takeAway('a', 'stopped')).toBe(true);
    expect(held.takenAway).toBe('stopped');
    expect(held.take()).toBe(null);
    expect(names(line)).toEqual([]);
    held.done(refuse('stopped', { detail: '' }));
    expect(line.takeAway('a', 'stopped')).toBe(false);
    expect(ask(line, jobSpec('a')).takenAway).toBe(null);
  });

  test('is to be had a thousand times', () => {
    const line = lineOf();
    for (let each = 0; each < MOST_PLACES; each += 1) askAndWait(line, `run-${each}`);
    const asking = line.arrive(jobSpec('late'), 'ada') as Asking;
    expect(asking.take()).toMatchObject({ code: 'busy', retryAfterSeconds: 5 });
    askAndWait(line, 'run-0');
    expect(line.places()).toHaveLength(MOST_PLACES);
  });
});

describe('over a restart', () => {
  test('everybody keeps the place and the time waited, and has 30 s to ask again', () => {
    const line = lineOf();
    askAndWait(line, 'a');
    line.clock.forward(60_000);
    const asking = ask(line, jobSpec('b'));
    asking.imageHere();
    asking.done(wait);
    line.clock.forward(1000);
    // `a` has lapsed meanwhile, so it is asked for anew.
    askAndWait(line, 'a');
    const later = lineOf(line.keeps.at(-1), line.clock);
    expect(names(later)).toEqual(['b', 'a']);
    expect(later.place('b')).toMatchObject({ waitedMs: 1000, imageHere: true });
    later.clock.forward(29_999);
    askAndWait(later, 'b');
    later.clock.forward(1);
    expect(names(later)).toEqual(['b']);
  });

  test('a wall clock that was set back gives nobody a place in the future', () => {
    const line = lineOf();
    askAndWait(line, 'a');
    const kept = (line.keeps.at(-1) ?? []).map((place) => ({ ...place, since: '2036-01-01T00:00:00.000Z' }));
    expect(lineOf(kept).place('a')).toMatchObject({ waitedMs: 0, position: 1 });
  });
});
