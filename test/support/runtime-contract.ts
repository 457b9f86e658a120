import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { LABEL, containerName } from '../../src/model/labels.js';
import type { Books } from '../../src/model/ports/books.js';
import type { Hands } from '../../src/model/ports/hands.js';
import type { SeenContainer } from '../../src/model/snapshot.js';
import { grantOf, job, plainRequest, uuidOf } from './jobs.js';

/** A runtime that can run `sleep`, and how a test ends a job of it. */
export interface RuntimeUnderTest {
  readonly books: Books;
  readonly hands: Hands;
  /** A local image; anything for a runtime without images. */
  readonly image: string;
  /** Ends a running job's own process, as if its work were done. */
  end(id: string): Promise<void>;
  stop(): Promise<void>;
}

/**
 * The contract of every runtime behind `Books` and `Hands`: Docker, the process runtime and the fake in memory. `lose` moves
 * a running job out of the runtime's reach; null where that is impossible.
 */
export function runtimeContract(
  which: string,
  start: () => Promise<RuntimeUnderTest>,
  lose: ((id: string) => void) | null,
): void {
  describe(`the books and hands of ${which}`, () => {
    let runtime: RuntimeUnderTest;
    beforeAll(async () => {
      runtime = await start();
    });
    afterAll(() => runtime.stop());

    const create = (runId: string, ...cards: number[]) => {
      const request = plainRequest(runtime.image, { command: ['sleep', '1000'], labels: { team: 'vision' } });
      return runtime.hands.create(job(runId, request, cards.length), grantOf(...cards));
    };
    const created = async (runId: string, ...cards: number[]) => {
      const answer = await create(runId, ...cards);
      if (answer.kind !== 'created') throw new Error(`expected "created", got ${JSON.stringify(answer)}`);
      return answer.id;
    };
    const seen = async (id: string): Promise<SeenContainer | undefined> => {
      const list = await runtime.books.listRuns();
      if (list.kind === 'blind') throw new Error(list.detail);
      return list.value.containers.find((one) => one.id === id);
    };
    const ended = (id: string) =>
      vi.waitFor(async () => expect((await seen(id))?.state).toBe('exited'), { timeout: 20_000, interval: 50 });

    test('an image that is there is present', async () => {
      expect(await runtime.hands.ensureImage(runtime.image, 5000)).toEqual({ kind: 'present' });
    });

    test('what was created and not started holds its cards by uuid, under its name and labels', async () => {
      const id = await created('claims', 1, 3);
      expect(await seen(id)).toMatchObject({
        id,
        name: containerName('claims'),
        state: 'created',
        claim: { uuids: [uuidOf(1), uuidOf(3)], indices: [], unread: [] },
        labels: {
          team: 'vision',
          [LABEL.runId]: 'claims',
          [LABEL.gpus]: '1,3',
          [LABEL.gpuUuids]: `${uuidOf(1)},${uuidOf(3)}`,
          [LABEL.specSha256]: 'f'.repeat(64),
          [LABEL.admittedBy]: 'gate-a',
          [LABEL.admittedAt]: '2026-11-29T12:00:00.000Z',
          [LABEL.principal]: 'console',
        },
      });
      expect(await runtime.hands.remove(id, 'created')).toEqual({ kind: 'removed' });
      expect(await seen(id)).toBeUndefined();
    });

    test('a job of no cards is a claim on nothing', async () => {
      const id = await created('no-cards');
      expect((await seen(id))?.claim).toEqual({ uuids: [], indices: [], unread: [] });
      await runtime.hands.remove(id, 'created');
    });

    test('a name can be had once', async () => {
      const id = await created('twice', 0);
      expect(await create('twice', 1)).toMatchObject({ kind: 'name_taken' });
      await runtime.hands.remove(id, 'created');
      await runtime.hands.remove(await created('twice', 1), 'created');
    });

    test('of two creates of one name at once exactly one is made', async () => {
      const answers = await Promise.all([create('race', 0), create('race', 1), create('race', 2)]);
      const made = answers.flatMap((answer) => (answer.kind === 'created' ? [answer.id] : []));
      expect(made).toHaveLength(1);
      expect(answers.filter((answer) => answer.kind === 'name_taken')).toHaveLength(2);
      await Promise.all(made.map((id) => runtime.hands.remove(id, 'created')));
    });

    test('a job runs once started, starting it again is no error, and it is not removed while it lives', async () => {
      const id = await created('lives', 2);
      expect(await runtime.hands.start(id)).toEqual({ kind: 'started' });
      expect((await seen(id))?.state).toBe('running');
      expect(await runtime.hands.start(id)).toEqual({ kind: 'started' });
      expect(await runtime.hands.remove(id, 'created')).toEqual({ kind: 'left', state: 'running' });
      expect(await runtime.hands.remove(id, 'ended')).toEqual({ kind: 'left', state: 'running' });
      expect((await seen(id))?.state).toBe('running');
      await runtime.end(id);
      await ended(id);
      expect(await runtime.hands.remove(id, 'ended')).toEqual({ kind: 'removed' });
    });

    test('what can be asked for is never given up', async () => {
      const id = await created('kept', 1);
      const isKept = async () => {
        expect(await runtime.hands.giveUp(id)).toMatchObject({ kind: 'in_reach', why: expect.stringMatching(/\w/) });
        expect(await seen(id)).toMatchObject({ id, outOfReach: false });
      };
      await isKept();
      await runtime.hands.start(id);
      await isKept();
      await runtime.end(id);
      await ended(id);
      await isKept();
      await runtime.hands.remove(id, 'ended');
    });

    test.each(lose === null ? [] : [lose])(
      'what is out of reach counts as running and is not removed, and can be given up once',
      async (putOutOfReach) => {
        const id = await created('lost', 2);
        await runtime.hands.start(id);
        putOutOfReach(id);
        expect(await seen(id)).toMatchObject({ state: 'running', outOfReach: true, claim: { uuids: [uuidOf(2)] } });
        expect(await runtime.hands.remove(id, 'ended')).toEqual({ kind: 'left', state: 'running' });
        expect(await runtime.hands.giveUp(id)).toEqual({ kind: 'given_up' });
        expect(await seen(id)).toBeUndefined();
        expect(await runtime.hands.giveUp(id)).toEqual({ kind: 'gone' });
        await runtime.hands.remove(await created('lost', 2), 'created');
      },
    );

    test('what is gone can neither be started nor removed', async () => {
      const id = await created('gone', 0);
      await runtime.hands.remove(id, 'created');
      expect(await runtime.hands.start(id)).toMatchObject({ kind: 'gone' });
      expect(await runtime.hands.remove(id, 'created')).toEqual({ kind: 'gone' });
    });

    test('a run is found by its own id alone, in any state', async () => {
      const dotted = await created('a.b', 0);
      const other = await created('axb', 1);
      const longer = await created('a.b-2', 2);
      const found = await runtime.books.findRun('a.b');
      expect(found).toMatchObject({ kind: 'seen', value: [{ id: dotted, name: 'tuneplane-a.b' }] });
      expect(await runtime.books.findRun('nobody')).toMatchObject({ kind: 'seen', value: [] });
      await Promise.all([dotted, other, longer].map((id) => runtime.hands.remove(id, 'created')));
    });

    test('a run tells when it started, when it ended and how, and nothing once it is gone', async () => {
      const id = await created('tells', 0);
      await runtime.hands.start(id);
      const running = await seen(id);
      if (running === undefined) throw new Error('expected the run in the list');
      expect(await runtime.books.describe(running)).toMatchObject({
        kind: 'seen',
        value: { exitCode: null, finishedAt: null },
      });
      await runtime.end(id);
      await ended(id);
      const told = await runtime.books.describe(running);
      expect(told).toMatchObject({ kind: 'seen', value: { exitCode: expect.any(Number) } });
      await runtime.hands.remove(id, 'ended');
      expect(await runtime.books.describe(running)).toMatchObject({ kind: 'seen', value: null });
    });
  });
}
