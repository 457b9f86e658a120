import { join } from 'node:path';
import Docker from 'dockerode';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createDockerBooks } from '../../../src/runtime/docker/books.js';
import { systemClock } from '../../../src/time/system-clock.js';
import { startEngine, type Engine } from '../../support/docker/engine.js';
import { startStrangeDocker, type StrangeAnswer } from '../../support/docker/strange-docker.js';
import { listeningLog, uuidOf } from '../../support/jobs.js';

const books = (docker: Docker, log = listeningLog()) =>
  createDockerBooks({ docker, clock: systemClock, log, listTimeoutMs: 400, inspectTimeoutMs: 300 });

describe('the books of a real engine', () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await startEngine();
  });
  afterAll(() => engine.stop());

  const run = async (name: string, body: object, start = true) => {
    const options = { name, Image: engine.image, Cmd: ['sleep', '1000'], ...body };
    const container = await engine.docker.createContainer(options);
    if (start) await container.start();
    return container.id;
  };
  const request = (more: object) => ({
    HostConfig: {
      Init: true,
      NetworkMode: 'none',
      DeviceRequests: [{ Driver: 'nvidia', Capabilities: [['gpu']], ...more }],
    },
  });

  test('tell each container’s cards in one look', async () => {
    await run('foreign-one', request({ DeviceIDs: [uuidOf(1)] }));
    await run('foreign-two', request({ Count: 2 }));
    await run('monitor', request({ Count: -1 }));
    await run('plain', { HostConfig: { Init: true, NetworkMode: 'none' } });
    await run('idle', request({ DeviceIDs: [uuidOf(5)] }), false);
    await run('agent', { Labels: { 'tuneplane.gpus': '3' }, ...request({ DeviceIDs: [uuidOf(3)] }) });
    const list = await books(engine.docker).list();
    if (list.kind === 'blind') throw new Error(list.detail);
    const byName = Object.fromEntries(list.value.containers.map((one) => [one.name, one]));
    expect(byName['foreign-one']?.pinned).toEqual({ kind: 'some', ids: [uuidOf(1)] });
    expect(byName['foreign-two']?.pinned).toEqual({ kind: 'some', ids: ['0', '1'] });
    expect(byName['monitor']?.pinned).toEqual({ kind: 'all' });
    expect(byName['plain']?.pinned).toEqual({ kind: 'none' });
    expect(byName['idle']).toMatchObject({ state: 'created', pinned: { kind: 'none' } });
    expect(byName['agent']?.claim).toEqual({ uuids: [uuidOf(3)], indices: [3], unread: [] });
  });

  test('a count of two really is the first two cards', async () => {
    expect((await engine.environOf('foreign-two'))['NVIDIA_VISIBLE_DEVICES']).toBe('0,1');
  });

  test('an engine that stopped answering is blind by timeout, and it is seen again when it goes on', async () => {
    const there = books(engine.docker);
    engine.pause();
    expect(await there.list()).toMatchObject({ kind: 'blind', why: 'timeout' });
    expect(await there.findRun('x')).toMatchObject({ kind: 'blind', why: 'timeout' });
    engine.resume();
    await vi.waitFor(async () => expect(await there.list()).toMatchObject({ kind: 'seen' }), { timeout: 10_000 });
  });

  test('an inspect that waits for a start costs its answer, not the list, and is told once it can be', async () => {
    const there = books(engine.docker);
    await there.list();
    engine.hook('hang');
    const id = await run(
      'starting',
      { Labels: { 'tuneplane.gpus': '6' }, ...request({ DeviceIDs: [uuidOf(6)] }) },
      false,
    );
    const starting = engine.docker.getContainer(id).start();
    const look = async () => {
      const list = await there.list();
      if (list.kind === 'blind') throw new Error(list.detail);
      return list.value.containers.find((one) => one.id === id);
    };
    await vi.waitFor(async () => expect((await look())?.pinned.kind).toBe('not_told'), { timeout: 10_000 });
    expect((await look())?.claim).toEqual({ uuids: [], indices: [6], unread: [] });
    engine.hook('pass');
    await starting;
    await vi.waitFor(async () => expect((await look())?.claim?.uuids).toEqual([uuidOf(6)]), { timeout: 10_000 });
  });

  test('an engine that is gone is blind, with the reason', async () => {
    await engine.kill();
    expect(await books(engine.docker).list()).toMatchObject({
      kind: 'blind',
      why: 'unavailable',
      detail: expect.stringMatching(/^Docker cannot be reached: connect ECONNREFUSED/),
    });
    await engine.restart();
    expect(await books(engine.docker).list()).toMatchObject({ kind: 'seen' });
  });
});

describe('a list from a strange engine', () => {
  test.each<[string, StrangeAnswer, string, RegExp]>([
    [
      'null is not empty',
      { status: 200, body: 'null' },
      'parse',
      /expected a list of containers from Docker, got "null"/,
    ],
    ['garbage is not empty', { status: 200, body: '<html>' }, 'parse', /got "<html>"/],
    ['an object is not empty', { status: 200, body: '{}' }, 'parse', /expected a list/],
    ['half a list is no list', { half: '[{"Id":"a"},' }, 'timeout', /no complete answer within 400 ms/],
    ['a list cut off by the engine is no list', { cut: '[{"Id":"a"},' }, 'timeout', /no complete answer within 400 ms/],
    ['silence is a timeout', 'silence', 'timeout', /no complete answer within 400 ms/],
    ['a hang-up is unavailable', 'hang up', 'unavailable', /broke off: socket hang up/],
    [
      'a version that is refused is unavailable, in the words of the engine',
      { status: 400, body: '{"message":"client version 1.43 is too old. Minimum supported API version is 1.44"}' },
      'unavailable',
      /answered 400: client version 1.43 is too old/,
    ],
    [
      'a fault of the engine is unavailable',
      { status: 500, body: '{"message":"layer db"}' },
      'unavailable',
      /500: layer db/,
    ],
    ['a fault without words is unavailable', { status: 502, body: '' }, 'unavailable', /answered 502/],
  ])('%s', async (_says, answer, why, detail) => {
    const strange = await startStrangeDocker(() => answer);
    try {
      const there = books(strange.docker);
      expect(await there.list()).toMatchObject({ kind: 'blind', why, detail: expect.stringMatching(detail) });
      expect(await there.findRun('x')).toMatchObject({ kind: 'blind', why });
    } finally {
      await strange.stop();
    }
  });

  test('no socket is unavailable, with advice', async () => {
    const docker = new Docker({ socketPath: join('/nowhere', 'docker.sock') });
    expect(await books(docker).list()).toMatchObject({
      kind: 'blind',
      why: 'unavailable',
      detail: expect.stringMatching(/ENOENT .*is Docker running/),
    });
  });
});

describe('inspects', () => {
  const running = (count: number) =>
    JSON.stringify(
      Array.from({ length: count }, (_, n) => ({ Id: `c${n}`, Names: [`/c${n}`], State: 'running', Created: 1 })),
    );
  const inspect = {
    status: 200,
    body: JSON.stringify({ HostConfig: { DeviceRequests: [{ Driver: 'nvidia', DeviceIDs: ['0'] }] } }),
  };
  const inspectsOf = (requests: readonly string[]) =>
    requests.filter((line) => /GET \/containers\/c\d+\/json/.test(line));
  const isList = (line: string) => line.startsWith('GET /containers/json');

  test('are made once for each container, however many looks there are', async () => {
    const strange = await startStrangeDocker((line) => (isList(line) ? { status: 200, body: running(20) } : inspect));
    const there = books(strange.docker);
    await Promise.all([there.list(), there.list()]);
    await there.list();
    expect(inspectsOf(strange.requests).toSorted()).toEqual([...new Set(inspectsOf(strange.requests))].toSorted());
    expect(inspectsOf(strange.requests)).toHaveLength(20);
    await strange.stop();
  });

  test('that hang are not piled up, hold no look twice, and leave the others told', async () => {
    const strange = await startStrangeDocker((line) =>
      isList(line) ? { status: 200, body: running(3) } : line.includes('/c1/') ? 'silence' : inspect,
    );
    const parts = { docker: strange.docker, clock: systemClock, log: listeningLog() };
    const there = createDockerBooks({ ...parts, inspectTimeoutMs: 1500 });
    const first = await there.list();
    const second = await there.list();
    expect(first.tookMs).toBeGreaterThan(1400);
    expect(second.tookMs).toBeLessThan(1400);
    for (const look of [first, second]) {
      expect(look).toMatchObject({
        kind: 'seen',
        value: {
          containers: [{ pinned: { kind: 'some' } }, { pinned: { kind: 'not_told' } }, { pinned: { kind: 'some' } }],
        },
      });
    }
    expect(inspectsOf(strange.requests)).toHaveLength(3);
    await strange.stop();
  });

  test('that fail are asked again at the next look', async () => {
    let fail = true;
    const strange = await startStrangeDocker((line) =>
      isList(line) ? { status: 200, body: running(1) } : fail ? { status: 500, body: '{"message":"busy"}' } : inspect,
    );
    const there = books(strange.docker);
    expect(await there.list()).toMatchObject({
      value: { containers: [{ pinned: { kind: 'not_told', detail: 'Docker answered 500: busy' } }] },
    });
    fail = false;
    expect(await there.list()).toMatchObject({ value: { containers: [{ pinned: { kind: 'some', ids: ['0'] } }] } });
    await strange.stop();
  });

  test('are forgotten with their container', async () => {
    let there = true;
    const strange = await startStrangeDocker((line) =>
      isList(line) ? { status: 200, body: running(there ? 1 : 0) } : inspect,
    );
    const seen = books(strange.docker);
    await seen.list();
    there = false;
    await seen.list();
    there = true;
    await seen.list();
    expect(inspectsOf(strange.requests)).toHaveLength(2);
    await strange.stop();
  });
});

describe('the log', () => {
  test('says the same trouble once, another trouble at once, and when it is over', async () => {
    let answer: StrangeAnswer = { status: 500, body: '{"message":"one"}' };
    const strange = await startStrangeDocker(() => answer);
    const log = listeningLog();
    const there = books(strange.docker, log);
    for (let look = 0; look < 5; look += 1) await there.list();
    answer = { status: 500, body: '{"message":"two"}' };
    await there.list();
    answer = { status: 200, body: '[]' };
    await there.list();
    await there.list();
    expect(log.lines).toEqual([
      'warn Docker cannot be asked: Docker answered 500: one',
      'warn Docker cannot be asked: Docker answered 500: two',
      'info Docker answers again',
    ]);
    await strange.stop();
  });
});
