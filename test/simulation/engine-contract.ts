import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { containerName } from '../../src/model/labels.js';
import type { Books } from '../../src/model/ports/books.js';
import type { Hands } from '../../src/model/ports/hands.js';
import type { ContainerState, Probed } from '../../src/model/snapshot.js';
import { grantOf, job, plainRequest } from '../support/jobs.js';

/** An engine, or a model of one, including the actions of its human users. */
export interface EngineUnderTest {
  readonly books: Books;
  readonly hands: Hands;
  readonly image: string;
  /** How often it was actually started. */
  starts(id: string): number;
  /** The process of a running job ends. */
  end(id: string): Promise<void>;
  rename(id: string, name: string): Promise<void>;
  /** `docker container prune` */
  prune(): Promise<void>;
  restart(): Promise<void>;
  /** `docker start`, without the product's own checks. */
  startByHand(id: string): Promise<void>;
  /** Starts from now on are blocked until they are released. */
  holdStarts(): { letGo(): void };
  stop(): Promise<void>;
}

/**
 * What makes it hard to start a run exactly once: the engine's model and the fake runtime behave as badly in this as the
 * real engine.
 */
export function engineContract(which: string, open: () => Promise<EngineUnderTest>): void {
  describe(`what is done to containers, by ${which}`, () => {
    let engine: EngineUnderTest;
    let runs = 0;
    beforeAll(async () => {
      engine = await open();
    });
    afterAll(() => engine.stop());

    const create = (runId: string) => {
      const request = plainRequest(engine.image, { command: ['sleep', '1000'] });
      return engine.hands.create(job(runId, request, 1), grantOf(0));
    };
    const created = async (runId = `run-${++runs}`): Promise<string> => {
      const answer = await create(runId);
      if (answer.kind !== 'created') throw new Error(`expected "created", got ${JSON.stringify(answer)}`);
      return answer.id;
    };
    const running = async (runId?: string): Promise<string> => {
      const id = await created(runId);
      expect(await engine.hands.start(id)).toEqual({ kind: 'started' });
      return id;
    };
    const ended = async (): Promise<string> => {
      const id = await running();
      await engine.end(id);
      await becomes(id, 'exited');
      return id;
    };
    const stateOf = async (id: string): Promise<ContainerState | 'not there'> => {
      const { containers } = seen(await engine.books.listRuns());
      return containers.find((one) => one.id === id)?.state ?? 'not there';
    };
    const becomes = (id: string, state: ContainerState | 'not there') =>
      vi.waitFor(async () => expect(await stateOf(id)).toBe(state), { timeout: 20_000, interval: 20 });
    const startsBecome = (id: string, times: number) =>
      vi.waitFor(() => expect(engine.starts(id)).toBe(times), { timeout: 20_000, interval: 20 });

    test('a start starts again what has ended', async () => {
      const id = await ended();
      await engine.startByHand(id);
      expect(await stateOf(id)).toBe('running');
      await startsBecome(id, 2);
    });

    test('a start of what runs is no error, and starts nothing', async () => {
      const id = await running();
      expect(await engine.hands.start(id)).toEqual({ kind: 'started' });
      await startsBecome(id, 1);
    });

    test('what is gone cannot be started', async () => {
      const id = await created();
      expect(await engine.hands.remove(id, 'created')).toEqual({ kind: 'removed' });
      expect(await engine.hands.start(id)).toMatchObject({ kind: 'gone' });
    });

    test('a removal takes what has ended, and nothing that runs', async () => {
      const over = await ended();
      const alive = await running();
      expect(await engine.hands.remove(over, 'ended')).toEqual({ kind: 'removed' });
      expect(await engine.hands.remove(alive, 'ended')).toEqual({ kind: 'left', state: 'running' });
      expect([await stateOf(over), await stateOf(alive)]).toEqual(['not there', 'running']);
    });

    test('a list answers while a start is under way, and shows it created', async () => {
      const id = await created();
      const held = engine.holdStarts();
      const starting = engine.hands.start(id);
      expect(await stateOf(id)).toBe('created');
      held.letGo();
      expect(await starting).toEqual({ kind: 'started' });
      expect(await stateOf(id)).toBe('running');
    });

    test('a second start waits for the first, and starts nothing while that one runs', async () => {
      const id = await created();
      const held = engine.holdStarts();
      const both = Promise.all([engine.hands.start(id), engine.hands.start(id)]);
      expect(await stateOf(id)).toBe('created');
      held.letGo();
      expect(await both).toEqual([{ kind: 'started' }, { kind: 'started' }]);
      await startsBecome(id, 1);
    });

    test('a removal waits for a start under way, and leaves what runs then', async () => {
      const id = await created();
      const held = engine.holdStarts();
      const starting = engine.startByHand(id);
      expect(await stateOf(id)).toBe('created');
      const removing = engine.hands.remove(id, 'created');
      expect(await stateOf(id)).toBe('created');
      held.letGo();
      await starting;
      expect(await removing).toEqual({ kind: 'left', state: 'running' });
      expect(await stateOf(id)).toBe('running');
    });

    test('a name is free as soon as its container is gone', async () => {
      const id = await created('again');
      expect(await create('again')).toMatchObject({ kind: 'name_taken' });
      await engine.hands.remove(id, 'created');
      expect(await create('again')).toMatchObject({ kind: 'created' });
    });

    test('of several creates of one name one is made, and shows to those who lost', async () => {
      const answers = await Promise.all([create('race'), create('race'), create('race')]);
      expect(answers.map(({ kind }) => kind).toSorted()).toEqual(['created', 'name_taken', 'name_taken']);
      await vi.waitFor(async () => expect(seen(await engine.books.findRun('race'))).toHaveLength(1));
    });

    test('what was renamed is found by its label, and makes room for a second one', async () => {
      const id = await running('renamed');
      await engine.rename(id, 'kept');
      expect(seen(await engine.books.findLabelled('renamed'))).toMatchObject([{ id, name: 'kept' }]);
      await created('renamed');
      const names = seen(await engine.books.findLabelled('renamed')).map(({ name }) => name);
      expect(names.toSorted()).toEqual(['kept', containerName('renamed')]);
    });

    test('a prune takes what was created and what has ended, and leaves what runs', async () => {
      const [idle, over, alive] = [await created(), await ended(), await running()];
      await engine.prune();
      await becomes(idle, 'not there');
      await becomes(over, 'not there');
      expect(await stateOf(alive)).toBe('running');
    });

    test('an engine that comes back has ended what ran, and keeps what was created', async () => {
      const [idle, alive] = [await created(), await running()];
      await engine.restart();
      await becomes(alive, 'exited');
      expect(await stateOf(idle)).toBe('created');
      await engine.startByHand(alive);
      await startsBecome(alive, 2);
    });
  });
}

function seen<T>(probed: Probed<T>): T {
  if (probed.kind === 'blind') throw new Error(probed.detail);
  return probed.value;
}
