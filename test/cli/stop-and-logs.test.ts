import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { healthyMachine } from '../../src/stand-in/machine/build-machine.js';
import { COMMAND, folderWithCards, runCommand, startCommand, type Running, type Said } from '../support/command.js';
import { startEngine, type Engine } from '../support/docker/engine.js';
import { startGate, type Gate } from '../support/gate.js';
import { jobToPost } from '../support/jobs-to-post.js';
import { freePort } from '../support/services/redis.js';
import { makeTokens } from '../support/tokens.js';

/** `gpu-gate stop` and `gpu-gate logs`, as two people and an operator type them, against a real gate with two cards. */

const { folder } = folderWithCards();
const tokens = makeTokens({ ann: 'admit,release,read', bob: 'admit,release,read', ops: 'operate,read' });
let engine: Engine;
let gate: Gate;

beforeAll(async () => {
  engine = await startEngine();
  const settings = { TUNEPLANE_TOKENS_FILE: tokens.path };
  gate = await startGate({ engine, machine: healthyMachine({ cards: 2 }), settings, token: tokens.of('ops') });
  for (const who of ['ann', 'bob', 'ops'] as const) {
    writeFileSync(tokenOf(who), `${tokens.of(who)}\n`, { mode: 0o600 });
  }
});
afterEach(async () => {
  await gate.emptyLine();
  for (const { Id } of await engine.docker.listContainers({ all: true })) {
    await engine.docker.getContainer(Id).remove({ force: true });
  }
});
afterAll(async () => {
  await gate?.stop();
  await engine?.stop();
});

type Who = 'ann' | 'bob' | 'ops';
const tokenOf = (who: Who): string => join(folder, `token-${who}`);
const envOf = (who: Who) => ({ TUNEPLANE_URL: gate.url, TUNEPLANE_TOKEN_FILE: tokenOf(who) });
const start = (who: Who, ...args: readonly string[]): Running => startCommand(args, { env: envOf(who) });
const type = (who: Who, ...args: readonly string[]): Promise<Said> => runCommand(args, { env: envOf(who) });
const stateOf = async (runId: string): Promise<unknown> => (await gate.get(`/runs/${runId}`)).body;
const untilEnded = (runId: string, but: object = {}) =>
  expect.poll(() => stateOf(runId), { timeout: 20_000 }).toMatchObject({ state: 'exited', ...but });

async function admit(who: Who, runId: string, script: string, { count = 1, decision = 'admitted' } = {}) {
  const job = jobToPost(runId, count, { command: ['sh', '-c', script] });
  expect((await gate.post('/admit', job, tokens.as(who))).body).toMatchObject({ decision });
}

const POLITE = 'trap "echo bye; exit 7" TERM; echo up; while :; do sleep 0.1; done';

describe('gpu-gate stop', () => {
  test('tells a run of one’s own to end, which may do so in its own way', async () => {
    await admit('ann', 'polite', POLITE);
    await expect.poll(async () => (await gate.get('/runs/polite/logs')).text, { timeout: 20_000 }).toBe('up\n');
    expect(await type('ann', 'stop', 'polite', '--grace', '20')).toEqual({
      code: 0,
      stdout: 'polite was told to end; it is killed if it still runs in 20 s\n',
      stderr: '',
    });
    await untilEnded('polite', { exit_code: 7 });
    expect(await type('ann', 'stop', 'polite')).toEqual({
      code: 0,
      stdout: 'polite has ended already\n',
      stderr: '',
    });
  });

  test('kills one that does not listen after its grace', async () => {
    await admit('ann', 'deaf', 'trap "" TERM; while :; do sleep 0.1; done');
    expect(await type('ann', 'stop', 'deaf', '--grace', '0')).toMatchObject({ code: 0 });
    await untilEnded('deaf', { exit_code: 137 });
  });

  test('is refused for the run of somebody else, and goes on for an operator', async () => {
    await admit('ann', 'mine', 'sleep 600');
    expect(await type('bob', 'stop', 'mine')).toMatchObject({
      code: 5,
      stdout: '',
      stderr: expect.stringMatching(/^gpu-gate: refused \(403 forbidden\): /),
    });
    expect(await stateOf('mine')).toMatchObject({ state: 'running' });
    expect(await type('ops', 'stop', 'mine', '--grace', '0')).toMatchObject({ code: 0 });
    await untilEnded('mine');
  });

  test('takes a run that waits out of the line', async () => {
    await admit('ann', 'holder', 'sleep 600', { count: 2 });
    await admit('bob', 'later', 'true', { decision: 'wait' });
    expect(await type('ann', 'stop', 'later')).toMatchObject({ code: 5 });
    expect(await stateOf('later')).toMatchObject({ state: 'waiting' });
    expect(await type('bob', 'stop', 'later')).toEqual({
      code: 0,
      stdout: 'later had not begun, and will not\n',
      stderr: '',
    });
    expect((await gate.get('/runs/later')).status).toBe(404);
  });

  test.each<[says: string, args: string[], code: number, words: string]>([
    ['a run that nobody knows', ['nothing'], 5, '(404 not_found)'],
    ['a name that no run can have', ['../cards'], 5, '(404 not_found)'],
    ['a grace that is no number', ['any', '--grace', 'soon'], 2, '--grace: expected a whole number of seconds'],
    ['no run', [], 2, "missing required argument 'run_id'"],
  ])('ends with a code of its own for %s', async (_says, args, code, words) => {
    expect(await type('ops', 'stop', ...args)).toMatchObject({
      code,
      stdout: '',
      stderr: expect.stringContaining(words),
    });
  });
});

describe('gpu-gate logs', () => {
  test('prints what a run of one’s own printed, on both of its outputs, or the end of it', async () => {
    await admit('ann', 'talks', 'echo one; echo two; sleep 0.3; echo three >&2');
    await untilEnded('talks');
    expect(await type('ann', 'logs', 'talks')).toEqual({ code: 0, stdout: 'one\ntwo\nthree\n', stderr: '' });
    expect(await type('ops', 'logs', 'talks', '--tail', '1')).toMatchObject({ code: 0, stdout: 'three\n' });
  });

  test('is refused for the run of somebody else', async () => {
    await admit('ann', 'secret', 'echo secret');
    await untilEnded('secret');
    expect(await type('bob', 'logs', 'secret')).toMatchObject({
      code: 5,
      stdout: '',
      stderr: expect.stringMatching(/^gpu-gate: refused \(403 forbidden\): /),
    });
  });

  test.each<[says: string, args: string[], code: number, words: string]>([
    ['a run that nobody knows', ['nothing'], 5, '(404 not_found)'],
    ['a run that nobody knows, to be followed', ['-f', 'nothing'], 5, '(404 not_found)'],
    ['a number of lines that is none', ['any', '--tail', 'many'], 5, '(400 invalid_request)'],
    ['no run', [], 2, "missing required argument 'run_id'"],
  ])('ends with a code of its own for %s', async (_says, args, code, words) => {
    expect(await type('ops', 'logs', ...args)).toMatchObject({
      code,
      stdout: '',
      stderr: expect.stringContaining(words),
    });
  });

  test('follows a run with -f as it prints, and ends with it', async () => {
    await admit('ann', 'long', POLITE);
    const following = start('ann', 'logs', '-f', 'long');
    await expect.poll(following.stdout, { timeout: 20_000 }).toBe('up\n');
    expect(await type('ann', 'stop', 'long')).toMatchObject({ code: 0 });
    expect(await following.ended).toEqual({ code: 0, stdout: 'up\nbye\n', stderr: '' });
    await untilEnded('long', { exit_code: 7 });
  });

  test('ends the reading at Ctrl-C, and not the run', async () => {
    await admit('ann', 'goes-on', POLITE);
    const following = start('ann', 'logs', '-f', 'goes-on');
    await expect.poll(following.stdout, { timeout: 20_000 }).toBe('up\n');
    following.kill('SIGINT');
    expect(await following.ended).toEqual({ code: 0, stdout: 'up\n', stderr: '' });
    expect(await stateOf('goes-on')).toMatchObject({ state: 'running' });
  });

  test.each(['-f', '--tail=1000'])('ends quietly when nobody reads it any more (logs %s | head -1)', async (how) => {
    await admit('ann', 'chatty', 'busybox seq 1 200000; sleep 600');
    await expect
      .poll(async () => (await gate.get('/runs/chatty/logs?tail=1')).text, { timeout: 30_000 })
      .toBe('200000\n');
    const { stdout, stderr } = await execa(
      'sh',
      ['-c', `{ ${process.execPath} ${COMMAND} logs ${how} chatty; echo "ended with $?" >&2; } | head -1`],
      { env: { ...envOf('ann'), PATH: '/usr/bin:/bin' }, extendEnv: false, timeout: 60_000 },
    );
    expect({ stdout, stderr }).toEqual({ stdout: expect.stringMatching(/^\d+$/), stderr: 'ended with 0' });
    expect(await stateOf('chatty')).toMatchObject({ state: 'running' });
  });
});

test('where no gate answers both end with 6', async () => {
  const env = { TUNEPLANE_URL: `127.0.0.1:${await freePort()}` };
  for (const command of ['stop', 'logs']) {
    const said = await runCommand([command, 'any'], { env });
    expect(said).toMatchObject({ code: 6, stdout: '', stderr: expect.stringContaining('no gate answers at') });
  }
});
