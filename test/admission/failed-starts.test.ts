import { expect, test } from 'vitest';
import { createFailedStarts } from '../../src/admission/failed-starts.js';
import { cardUuid } from '../../src/model/card.js';
import { console_, jobSpec, nobodyGone, testDesk, uuidOf, type TestDesk } from '../support/admissions.js';
import { fakeRuntime } from '../support/fake-runtime.js';

const A = cardUuid('GPU-a');
const B = cardUuid('GPU-b');
const MINUTE = 60_000;

test('what failed counts for an hour', () => {
  let now = 0;
  const starts = createFailedStarts({ monotonic: () => now });
  starts.failed([A, B]);
  now = 30 * MINUTE;
  starts.failed([A]);
  expect(Object.fromEntries(starts.now())).toEqual({ [A]: 2, [B]: 1 });
  now = 60 * MINUTE;
  expect(Object.fromEntries(starts.now())).toEqual({ [A]: 1 });
  now = 90 * MINUTE;
  expect(starts.now().size).toBe(0);
});

test('a start that succeeded clears its own cards and no others', () => {
  const starts = createFailedStarts({ monotonic: () => 0 });
  starts.failed([A, B]);
  starts.succeeded([A]);
  expect(Object.fromEntries(starts.now())).toEqual({ [B]: 1 });
  starts.failed([A]);
  expect(Object.fromEntries(starts.now())).toEqual({ [A]: 1, [B]: 1 });
});

test('a card that fails for weeks takes no more memory than one that failed often', () => {
  const starts = createFailedStarts({ monotonic: () => 0 });
  for (let times = 0; times < 10_000; times += 1) starts.failed([A]);
  expect(starts.now().get(A)).toBe(100);
});

// https://github.com/pytorch/ci-infra/issues/1058: a bad card was the first free one, and got every job.
test('one bad card does not eat every job: it is tried once, then last, and says so', async () => {
  const runtime = fakeRuntime();
  const desk = testDesk(runtime, { cards: 4 });
  const onBadCard = (id: string) => runtime.containers.get(id)?.claim?.uuids.includes(cardUuid(uuidOf(0))) === true;
  runtime.onStart = (id) => (onBadCard(id) ? { kind: 'failed', daemonMessage: 'unknown device' } : null);
  const admit = (on: TestDesk, runId: string, count = 1) => on.admit(jobSpec(runId, count), console_, nobodyGone());

  expect(await admit(desk, 'first')).toMatchObject({ code: 'start_failed', rolledBack: true });
  expect(await admit(desk, 'first')).toMatchObject({ kind: 'admitted', cards: [{ index: 1 }] });
  expect(await admit(desk, 'pair', 2)).toMatchObject({ kind: 'admitted', cards: [{ index: 2 }, { index: 3 }] });
  expect(await admit(desk, 'too-many', 2)).toMatchObject({
    kind: 'wait',
    free: 1,
    explain: expect.stringContaining('on card 0 (1): picked last') as string,
  });

  desk.places.takeAway('too-many', 'stopped');
  // Nothing else is free: it is the last resort, and once a start has succeeded there it is a card as any other.
  runtime.onStart = null;
  expect(await admit(desk, 'last')).toMatchObject({ kind: 'admitted', cards: [{ index: 0 }] });
  for (const id of runtime.containers.keys()) runtime.end(id);
  expect(await admit(desk, 'next')).toMatchObject({ kind: 'admitted', cards: [{ index: 0 }] });
});

test('an image that the runtime refuses says nothing of the card', async () => {
  const runtime = fakeRuntime();
  const desk = testDesk(runtime, { cards: 2 });
  runtime.onStart = () => ({ kind: 'refused', daemonMessage: 'no such command' });
  expect(await desk.admit(jobSpec('bad'), console_, nobodyGone())).toMatchObject({ code: 'container_refused' });
  runtime.onStart = null;
  expect(await desk.admit(jobSpec('good'), console_, nobodyGone())).toMatchObject({ cards: [{ index: 0 }] });
});
