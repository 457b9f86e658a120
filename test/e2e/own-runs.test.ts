import { readFileSync } from 'node:fs';
import { get as getHttp, type IncomingMessage } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startEngine, type Engine } from '../support/docker/engine.js';
import { startGate, type Gate } from '../support/gate.js';
import { jobToPost } from '../support/jobs-to-post.js';
import { makeTokens } from '../support/tokens.js';

/** One's own job in hand, without Docker's socket: two people, an operator, and a console that speaks for others. */

const tokens = makeTokens({
  ann: 'admit,release,read',
  bob: 'admit,release,read',
  ops: 'operate,read',
  watcher: 'read',
  console: 'admit,release,read,delegate',
});
let engine: Engine;
let gate: Gate;
beforeAll(async () => {
  engine = await startEngine();
  gate = await startGate({ engine, settings: { TUNEPLANE_TOKENS_FILE: tokens.path }, token: tokens.of('ops') });
});
afterEach(async () => {
  for (const { Id } of await engine.docker.listContainers({ all: true })) {
    await engine.docker.getContainer(Id).remove({ force: true });
  }
});
afterAll(async () => {
  await gate?.stop();
  await engine?.stop();
});

type Who = 'ann' | 'bob' | 'ops' | 'watcher' | 'console';
const admit = async (who: Who, runId: string, script: string, headers = {}) => {
  const job = jobToPost(runId, 1, { command: ['sh', '-c', script], labels: { team: 'vision' } });
  expect((await gate.post('/admit', job, { ...tokens.as(who), ...headers })).status).toBe(201);
};
const stop = (who: Who, runId: string, body: object = {}, headers = {}) =>
  gate.post(`/runs/${runId}/stop`, body, { ...tokens.as(who), ...headers });
const remove = (who: Who, runId: string) => gate.call(`/runs/${runId}`, { method: 'DELETE', headers: tokens.as(who) });
const stateOf = async (runId: string) => (await gate.get(`/runs/${runId}`)).body;
const untilEnded = (runId: string, expected: object) =>
  expect.poll(() => stateOf(runId), { timeout: 20_000 }).toMatchObject({ state: 'exited', ...expected });

describe('a stop', () => {
  test('of one’s own run is told to it, and it may end in its own way', async () => {
    await admit('ann', 'polite', 'trap "echo bye; exit 7" TERM; echo ready; while :; do sleep 0.1; done');
    await expect.poll(async () => (await gate.get('/runs/polite/logs')).text, { timeout: 10_000 }).toBe('ready\n');
    const answer = await stop('ann', 'polite', { grace_seconds: 20 });
    expect(answer.status).toBe(202);
    expect(answer.body).toMatchObject({
      run_id: 'polite',
      principal: 'ann',
      labels: { team: 'vision' },
      image: 'gate-test:latest',
    });
    await untilEnded('polite', { exit_code: 7 });
    expect((await gate.get('/runs/polite/logs')).text).toBe('ready\nbye\n');
    expect((await stop('ann', 'polite')).status).toBe(200);
    expect(gate.audit().filter(({ audit }) => audit === 'stop')).toMatchObject([
      { principal: 'ann', run_id: 'polite', outcome: 'stopping' },
      { principal: 'ann', run_id: 'polite', outcome: 'ended' },
    ]);
  });

  test('of one that does not listen is a kill after its grace', async () => {
    await admit('ann', 'deaf', 'trap "" TERM; while :; do sleep 0.1; done');
    expect((await stop('ann', 'deaf', { grace_seconds: 1 })).status).toBe(202);
    await untilEnded('deaf', { exit_code: 137, error: expect.stringContaining('it was killed') as string });
  });

  test('of somebody else’s run is forbidden, and an operator’s', async () => {
    await admit('ann', 'mine', 'sleep 600');
    for (const who of ['bob', 'watcher'] as const) {
      expect((await stop(who, 'mine')).body).toMatchObject({ code: 'forbidden' });
    }
    expect(await stateOf('mine')).toMatchObject({ state: 'running' });
    expect((await stop('ops', 'mine', { grace_seconds: 0 })).status).toBe(202);
    await untilEnded('mine', {});
  });

  test.each([
    ['a run that nobody knows', 'nothing', {}, 404],
    ['a grace that is no number', 'any', { grace_seconds: 'soon' }, 400],
    ['a grace below nothing', 'any', { grace_seconds: -1 }, 400],
    ['a misspelt key', 'any', { grace: 1 }, 400],
  ])('of %s is refused', async (_says, runId, body, status) => {
    expect((await stop('ops', runId, body)).status).toBe(status);
  });
});

describe('the removal of what has ended', () => {
  test('is for its owner and for an operator', async () => {
    for (const runId of ['first', 'second']) {
      await admit('ann', runId, 'exit 0');
      await untilEnded(runId, {});
    }
    expect((await remove('bob', 'first')).body).toMatchObject({ code: 'forbidden' });
    expect((await remove('ann', 'first')).status).toBe(204);
    expect((await remove('ops', 'second')).status).toBe(204);
  });
});

describe('the output', () => {
  test('is its owner’s and an operator’s to read', async () => {
    await admit('ann', 'secret', 'echo out; echo err >&2');
    await untilEnded('secret', {});
    const read = (who: Who, query = '') => gate.get(`/runs/secret/logs${query}`, tokens.as(who));
    expect((await read('ann')).text.split('\n').toSorted()).toEqual(['', 'err', 'out']);
    expect((await read('ops', '?stderr=false')).text).toBe('out\n');
    for (const who of ['bob', 'watcher'] as const) expect((await read(who)).body).toMatchObject({ code: 'forbidden' });
    expect((await read('ann', '?tail=-1')).status).toBe(400);
    expect((await read('ann', '?follow=yes')).status).toBe(400);
  });

  test('comes as it is printed, and its end is that of the run', async () => {
    await admit('ann', 'slow', 'for each in 1 2 3 4 5; do echo line $each; sleep 0.2; done');
    const { text, headers } = await gate.get('/runs/slow/logs?follow=true&tail=100', tokens.as('ann'));
    expect(text).toBe('line 1\nline 2\nline 3\nline 4\nline 5\n');
    expect(headers['content-type']).toBe('text/plain; charset=utf-8');
    expect((await gate.get('/runs/slow/logs?tail=2', tokens.as('ann'))).text).toBe('line 4\nline 5\n');
  });

  // OUTPUT_MIB=1024 is a gigabyte, which takes minutes.
  const outputMib = Number(process.env['OUTPUT_MIB'] ?? 48);
  test('goes through a reader who is slow, however much it is, and the gate keeps nothing of it', async () => {
    const bytes = outputMib * 1024 ** 2;
    await admit('ann', 'chatty', `busybox head -c ${bytes} /dev/zero | busybox tr '\\0' x | busybox fold -w 1000`);
    const { port } = new URL(gate.url);
    const readSlowly = async (query: string): Promise<{ read: number; most: number }> => {
      const answer = await new Promise<IncomingMessage>((resolve, reject) => {
        const asked = getHttp({ port, path: `/runs/chatty/logs${query}`, headers: tokens.as('ann') }, resolve);
        asked.once('error', reject);
      });
      let read = 0;
      let most = 0;
      for await (const chunk of answer as AsyncIterable<Buffer>) {
        read += chunk.length;
        most = Math.max(most, residentMib(gate.pid));
        // Slow at first, so that all the buffers on the way are full; a gigabyte at this pace would take hours.
        if (read < 4 * 1024 ** 2) await new Promise((resolve) => setTimeout(resolve, 10));
      }
      return { read, most };
    };

    // An engine (20.10 does) may leave out a last line without an end, and what it rotated away before a slow follower came to it:
    // nothing can be said of the sum.
    const followed = await readSlowly('?follow=true');
    expect(followed.most, 'MiB').toBeLessThan(150);
    expect(followed.read).toBeGreaterThan(4 * 1024 ** 2);

    await untilEnded('chatty', {});
    const whole = await readSlowly('');
    expect(whole.most, 'MiB').toBeLessThan(150);
    // Each line has an end; of more than 64 MiB the engine itself keeps a part (max-size, max-file).
    if (outputMib <= 64) expect(whole.read).toBe(bytes + Math.floor(bytes / 1000));
    else expect(whole.read).toBeGreaterThan(50 * 1024 ** 2);
  }, 300_000);
});

function residentMib(pid: number): number {
  const kib = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kib) / 1024;
}

describe('the list of runs', () => {
  test('is by state, by whom, and not longer than asked for, the newest first', async () => {
    await admit('ann', 'old', 'exit 0');
    await untilEnded('old', {});
    await new Promise((resolve) => setTimeout(resolve, 1100));
    await admit('ann', 'new', 'sleep 600');
    await admit('bob', 'other', 'sleep 600');
    const ids = async (query: string) =>
      ((await gate.get(`/runs${query}`)).body as { runs: { run_id: string }[] }).runs.map(({ run_id }) => run_id);
    expect(await ids('?principal=ann')).toEqual(['new', 'old']);
    expect(await ids('?principal=ann&limit=1')).toEqual(['new']);
    expect(await ids('?state=exited')).toEqual(['old']);
    expect((await ids('?state=running')).toSorted()).toEqual(['new', 'other']);
    for (const query of ['?state=asleep', '?limit=0', '?limit=many', '?principal=', '?owner=ann']) {
      expect((await gate.get(`/runs${query}`)).status, query).toBe(400);
    }
    const held = (await gate.cards()).cards.map(({ held_by }) => held_by).filter((holder) => holder !== null);
    expect(held).toContainEqual(
      expect.objectContaining({
        run_id: 'new',
        principal: 'ann',
        image: 'gate-test:latest',
        command: "sh -c 'sleep 600'",
      }),
    );
  });
});

describe('a console that speaks for others', () => {
  const forAnn = { 'on-behalf-of': 'ann' };

  test('starts their runs as theirs, and both names are written down', async () => {
    await admit('console', 'for-ann', 'sleep 600', forAnn);
    const { Labels } = (await engine.docker.getContainer('tuneplane-for-ann').inspect()).Config;
    expect(Labels).toMatchObject({ 'tuneplane.principal': 'ann', 'tuneplane.delegate': 'console' });
    expect(await stateOf('for-ann')).toMatchObject({ principal: 'ann' });
    expect(gate.audit().find(({ run_id }) => run_id === 'for-ann')).toMatchObject({
      principal: 'ann',
      delegate: 'console',
    });
    expect((await stop('console', 'for-ann')).body).toMatchObject({ code: 'forbidden' });
    expect((await stop('console', 'for-ann', { grace_seconds: 0 }, forAnn)).status).toBe(202);
    await untilEnded('for-ann', {});
  });

  test('needs the role for it, and a name', async () => {
    expect((await stop('bob', 'any', {}, forAnn)).body).toMatchObject({
      code: 'forbidden',
      detail: expect.stringContaining('bob does not have the role delegate') as string,
    });
    expect((await stop('console', 'any', {}, { 'on-behalf-of': 'ann, bob' })).status).toBe(400);
  });
});
