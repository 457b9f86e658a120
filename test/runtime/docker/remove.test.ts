/** What a removal takes, on a real engine: one that never started, one that has ended, and one that changes at the last moment. */

import type Docker from 'dockerode';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Hands } from '../../../src/model/ports/hands.js';
import { createContainerEvents } from '../../../src/runtime/docker/events.js';
import { createDockerHands } from '../../../src/runtime/docker/hands.js';
import { parseEvent } from '../../../src/runtime/docker/read-events.js';
import { systemClock } from '../../../src/time/system-clock.js';
import { startEngine, type Engine } from '../../support/docker/engine.js';
import { grantOf, job, listeningLog, plainRequest } from '../../support/jobs.js';

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

/** Hands that follow the events, which are connected by the time they are given. */
async function handsOn(docker: Docker, on = engine): Promise<Hands> {
  const events = createContainerEvents({ docker, clock: systemClock, log: listeningLog() });
  onTestFinished(() => events.close());
  await expectEventsHeard(events, on);
  return createDockerHands({
    docker,
    clock: systemClock,
    log: listeningLog(),
    findAuth: async () => ({ kind: 'anonymous' }),
    events,
  });
}

async function expectEventsHeard(events: ReturnType<typeof createContainerEvents>, on: Engine): Promise<void> {
  await vi.waitFor(
    async () => {
      const probe = await on.docker.createContainer({ Image: on.image, Cmd: ['true'] });
      const followed = events.follow(probe.id);
      await probe.start();
      await probe.wait();
      await probe.remove();
      const heard = await followed.hadRun();
      followed.stop();
      expect(heard).toEqual({ exitCode: 0 });
    },
    { timeout: 20_000, interval: 50 },
  );
}

async function create(hands: Hands, runId: string, command: string[]): Promise<string> {
  const answer = await hands.create(job(runId, plainRequest(engine.image, { command }), 0), grantOf());
  if (answer.kind !== 'created') throw new Error(`expected "created", got ${JSON.stringify(answer)}`);
  return answer.id;
}

/** The same client, with something done right before a removal is sent. */
function client(beforeRemoval: (id: string) => Promise<unknown>): Docker {
  const { docker } = engine;
  return new Proxy(docker, {
    get(target, name, receiver) {
      if (name !== 'getContainer') return Reflect.get(target, name, receiver) as unknown;
      return (id: string) => {
        const container = target.getContainer(id);
        const remove = container.remove.bind(container) as (options: object) => Promise<unknown>;
        return Object.assign(container, {
          remove: async (options: object) => {
            await beforeRemoval(id);
            return remove(options);
          },
        });
      };
    },
  });
}

const exists = async (id: string) =>
  (await engine.docker.listContainers({ all: true, filters: { id: [id] } })).length > 0;

describe('what never started', () => {
  test('is removed; and by then it is gone', async () => {
    const hands = await handsOn(engine.docker);
    const id = await create(hands, 'never', ['sleep', '1000']);
    expect(await hands.remove(id, 'ended')).toEqual({ kind: 'left', state: 'created' });
    expect(await hands.remove(id, 'created')).toEqual({ kind: 'removed' });
    expect(await hands.remove(id, 'created')).toEqual({ kind: 'gone' });
  });

  test('is left alone once it has run and ended', async () => {
    const hands = await handsOn(engine.docker);
    const id = await create(hands, 'has-run', ['true']);
    await hands.start(id);
    await engine.docker.getContainer(id).wait();
    expect(await hands.remove(id, 'created')).toEqual({ kind: 'left', state: 'exited' });
    expect(await hands.remove(id, 'ended')).toEqual({ kind: 'removed' });
  });

  test('and is started after the last look is left running', async () => {
    const hands = await handsOn(client((id) => engine.docker.getContainer(id).start()));
    const id = await create(hands, 'slips-in', ['sleep', '1000']);
    expect(await hands.remove(id, 'created')).toEqual({ kind: 'left', state: 'running' });
    expect(await exists(id)).toBe(true);
  });

  test('and runs and ends after the last look is removed, and told with its exit code', async () => {
    const runs = async (id: string) => {
      await engine.docker.getContainer(id).start();
      await engine.docker.getContainer(id).wait();
    };
    const hands = await handsOn(client(runs));
    const id = await create(hands, 'ran', ['sh', '-c', 'exit 3']);
    expect(await hands.remove(id, 'created')).toMatchObject({
      kind: 'had_run',
      exitCode: 3,
      container: { id, name: 'tuneplane-ran', state: 'created', labels: { 'tuneplane.run_id': 'ran' } },
    });
    expect(await exists(id)).toBe(false);
  });
});

describe('the events', () => {
  test('are heard again after the engine was away', async () => {
    const own = await startEngine();
    onTestFinished(() => own.stop());
    const events = createContainerEvents({ docker: own.docker, clock: systemClock, log: listeningLog() });
    onTestFinished(() => events.close());
    await expectEventsHeard(events, own);
    await own.kill();
    await own.restart();
    await expectEventsHeard(events, own);
  });

  test.each([
    [
      'an end',
      { Type: 'container', Action: 'die', Actor: { ID: 'a', Attributes: { exitCode: '7' } } },
      { exitCode: 7 },
    ],
    ['a start', { Type: 'container', Action: 'start', Actor: { ID: 'a' } }, { exitCode: null }],
    ['an end without a code', { Type: 'container', Action: 'die', Actor: { ID: 'a' } }, { exitCode: null }],
  ])('%s is read', (_says, line, expected) => {
    expect(parseEvent(JSON.stringify(line))).toMatchObject({ id: 'a', ...expected });
  });

  test.each([
    '',
    '{',
    '[]',
    '{"Type":"image","Action":"pull","Actor":{"ID":"a"}}',
    '{"Type":"container","Action":"die"}',
  ])('%s is none', (line) => expect(parseEvent(line)).toBeNull());
});
