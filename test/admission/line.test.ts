import { describe, expect, test } from 'vitest';
import type { Decision } from '../../src/model/admission.js';
import type { KeptPlace } from '../../src/model/line.js';
import { console_, jobSpec, nobodyGone, testDesk, type TestDesk } from '../support/admissions.js';
import { fakeRuntime } from '../support/fake-runtime.js';

/** The line as callers meet it: the whole admission over a runtime in memory. */

const LONG_MS = 60_000;
const admit = (desk: TestDesk, runId: string, count = 1, holdMs = 0, gone = nobodyGone()): Promise<Decision> =>
  desk.admit(jobSpec(runId, count), console_, gone, holdMs);
const idOf = (runtime: ReturnType<typeof fakeRuntime>, runId: string): string =>
  [...runtime.containers.values()].find(({ name }) => name === `tuneplane-${runId}`)?.id ?? '';

describe('who waits', () => {
  test('is not passed by one who comes between two askings', async () => {
    const runtime = fakeRuntime();
    const desk = testDesk(runtime, { cards: 1 });
    await admit(desk, 'holder');
    expect(await admit(desk, 'first')).toMatchObject({ kind: 'wait', place: { position: 1 } });
    runtime.end(idOf(runtime, 'holder'));
    expect(await admit(desk, 'second')).toMatchObject({
      kind: 'wait',
      reasons: [{ code: 'ahead_in_line', cards: [0] }],
      place: { position: 2 },
    });
    expect(await admit(desk, 'first')).toMatchObject({ kind: 'admitted' });
    expect(desk.places.places().map(({ runId }) => runId)).toEqual(['second']);
  });

  test('lets smaller ones pass until it has waited too long, and then has the cards kept', async () => {
    const runtime = fakeRuntime();
    const desk = testDesk(runtime, { cards: 2, settings: { reserveAfterMs: 0 } });
    await admit(desk, 'holder');
    expect(await admit(desk, 'big', 2)).toMatchObject({ kind: 'wait' });
    const small = await admit(desk, 'small');
    expect(small).toMatchObject({
      kind: 'wait',
      reasons: [
        { code: 'job_held', cards: [0] },
        { code: 'reserved', cards: [1] },
      ],
    });
    expect((small as { explain: string }).explain).toContain(
      '1 free card is kept for big, which has waited 0 min for 2.',
    );
    runtime.end(idOf(runtime, 'holder'));
    expect(await admit(desk, 'small')).toMatchObject({ reasons: [{ code: 'ahead_in_line', cards: [0, 1] }] });
    expect(await admit(desk, 'big', 2)).toMatchObject({ kind: 'admitted' });
  });

  test('has no place any more once the run is there, is refused, or was deleted', async () => {
    const runtime = fakeRuntime();
    const desk = testDesk(runtime, { cards: 1 });
    await admit(desk, 'holder');
    expect(desk.status().line).toEqual({ waiting: 0, oldestMs: null });
    await admit(desk, 'a');
    expect(await admit(desk, 'a', 9)).toMatchObject({ code: 'unsatisfiable' });
    expect(desk.status().line.waiting).toBe(0);
    await admit(desk, 'b');
    expect(desk.places.takeAway('b', 'stopped')).toBe(true);
    expect(desk.status().line.waiting).toBe(0);
  });

  test('of a dry run is told where it would stand, and takes no place', async () => {
    const desk = testDesk(fakeRuntime(), { cards: 1 });
    await admit(desk, 'holder');
    await admit(desk, 'a');
    expect(await desk.dryRun(jobSpec('b'))).toMatchObject({ kind: 'would_wait', place: { position: 2, waitedMs: 0 } });
    expect(desk.status().line.waiting).toBe(1);
  });

  test('keeps the place over a restart of the gate', async () => {
    const runtime = fakeRuntime();
    let kept: readonly KeptPlace[] = [];
    const placeStore = { kept, keep: (places: readonly KeptPlace[]) => void (kept = places) };
    const before = testDesk(runtime, { cards: 1, placeStore });
    await admit(before, 'holder');
    await admit(before, 'first');
    runtime.end(idOf(runtime, 'holder'));
    const after = testDesk(runtime, { cards: 1, placeStore: { ...placeStore, kept } });
    expect(await admit(after, 'second')).toMatchObject({ reasons: [{ code: 'ahead_in_line', cards: [0] }] });
    expect(await admit(after, 'first')).toMatchObject({ kind: 'admitted' });
  });
});

describe('a held request', () => {
  test('is decided the moment a job ends, in the order of the line, and a second ask gets the same run', async () => {
    const runtime = fakeRuntime();
    const desk = testDesk(runtime, { cards: 1 });
    await admit(desk, 'holder');
    const first = admit(desk, 'first', 1, LONG_MS);
    const again = admit(desk, 'first', 1, LONG_MS);
    const second = admit(desk, 'second', 1, LONG_MS);
    await expect.poll(() => desk.status().line.waiting).toBe(2);
    runtime.end(idOf(runtime, 'holder'));
    const both = await Promise.all([first, again]);
    expect(both.map((one) => one.kind)).toEqual(['admitted', 'admitted']);
    expect(both.filter((one) => 'replayed' in one && one.replayed)).toHaveLength(1);
    runtime.end(idOf(runtime, 'first'));
    expect(await second).toMatchObject({ kind: 'admitted', replayed: false });
    expect(runtime.started).toHaveLength(3);
  });

  test('is told to wait when its time is over, with where it stands by then', async () => {
    const desk = testDesk(fakeRuntime(), { cards: 1 });
    await admit(desk, 'holder');
    expect(await admit(desk, 'first', 1, 30)).toMatchObject({ kind: 'wait', place: { position: 1 } });
  });

  test('is dropped when its caller hangs up, and the place stays', async () => {
    const desk = testDesk(fakeRuntime(), { cards: 1 });
    await admit(desk, 'holder');
    const caller = new AbortController();
    const held = admit(desk, 'first', 1, LONG_MS, caller.signal);
    await expect.poll(() => desk.status().line.waiting).toBe(1);
    caller.abort();
    expect(await held).toEqual({ kind: 'client_gone' });
    expect(desk.status().line.waiting).toBe(1);
  });

  test('is told that its run was stopped, and nothing is created', async () => {
    const runtime = fakeRuntime();
    const desk = testDesk(runtime, { cards: 1 });
    await admit(desk, 'holder');
    const held = admit(desk, 'first', 1, LONG_MS);
    await expect.poll(() => desk.status().line.waiting).toBe(1);
    desk.places.takeAway('first', 'stopped');
    expect(await held).toMatchObject({ kind: 'refused', code: 'stopped' });
    expect(runtime.containers.size).toBe(1);
    expect(desk.status().line.waiting).toBe(0);
  });

  test.each([
    ['held', LONG_MS],
    ['not held', 0],
  ])(
    'that is %s and stopped while its image is being pulled is told so, and no pull brings it back',
    async (_how, ms) => {
      const runtime = fakeRuntime();
      const desk = testDesk(runtime, { cards: 1 });
      let pulls = 0;
      runtime.images = () => {
        pulls += 1;
        desk.places.takeAway('first', 'stopped');
        return { kind: 'pulling' };
      };
      expect(await admit(desk, 'first', 1, ms)).toMatchObject({ kind: 'refused', code: 'stopped' });
      expect([pulls, runtime.containers.size, desk.status().line.waiting]).toEqual([1, 0, 0]);
    },
  );

  test('that is stopped the moment its image is here creates nothing', async () => {
    const runtime = fakeRuntime();
    const desk = testDesk(runtime, { cards: 1 });
    runtime.images = () => {
      desk.places.takeAway('first', 'stopped');
      return { kind: 'present' };
    };
    expect(await admit(desk, 'first')).toMatchObject({ kind: 'refused', code: 'stopped' });
    expect(runtime.containers.size).toBe(0);
  });

  test('whose caller asks for something else under its run_id is told so, and the later one has the place', async () => {
    const runtime = fakeRuntime();
    const desk = testDesk(runtime, { cards: 2 });
    await admit(desk, 'holder', 2);
    const held = admit(desk, 'first', 1, LONG_MS);
    await expect.poll(() => desk.status().line.waiting).toBe(1);
    expect(await admit(desk, 'first', 2)).toMatchObject({ kind: 'wait', requested: 2, place: { position: 1 } });
    expect(await held).toMatchObject({ kind: 'refused', code: 'run_id_reused' });
    runtime.end(idOf(runtime, 'holder'));
    const admitted = await admit(desk, 'first', 2);
    expect(admitted).toMatchObject({ kind: 'admitted', cards: [{ index: 0 }, { index: 1 }] });
  });

  test('is one of 256 at most, counted from its arrival on', async () => {
    const desk = testDesk(fakeRuntime(), { cards: 1 });
    await admit(desk, 'holder');
    const gone = new AbortController();
    const held = Array.from({ length: 256 }, (_, at) => {
      expect(desk.canHold()).toBe(true);
      return admit(desk, `run-${at}`, 1, LONG_MS, gone.signal);
    });
    expect(desk.canHold()).toBe(false);
    gone.abort();
    await Promise.all(held);
    expect(desk.canHold()).toBe(true);
  });

  test('ends with the gate', async () => {
    const desk = testDesk(fakeRuntime(), { cards: 1 });
    await admit(desk, 'holder');
    const held = admit(desk, 'first', 1, LONG_MS);
    await expect.poll(() => desk.status().line.waiting).toBe(1);
    expect(await desk.drain(1000)).toBe(true);
    expect(await held).toMatchObject({ code: 'draining' });
  });
});
