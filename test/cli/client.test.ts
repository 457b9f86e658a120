import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { COMMAND, folderWithCards, runCommand, startCommand } from '../support/command.js';
import { startEngine, type Engine } from '../support/docker/engine.js';
import { startGate, type Gate } from '../support/gate.js';
import { jobToPost } from '../support/jobs-to-post.js';
import { freePort } from '../support/services/redis.js';
import { makeTokens } from '../support/tokens.js';

/** The commands that ask a gate, against a real one with tokens, on TCP and on a unix socket. */

let engine: Engine;
let gate: Gate;
let env: Record<string, string>;
const { folder } = folderWithCards();
const tokens = makeTokens({ console: 'admit,read,release', operator: 'operate,read', reader: 'read' });
const socket = `unix:${join(folder, 'gate.sock')}`;

beforeAll(async () => {
  engine = await startEngine();
  const settings = { TUNEPLANE_TOKENS_FILE: tokens.path };
  gate = await startGate({ engine, settings, alsoListen: [socket], token: tokens.of('console') });
  for (const name of ['console', 'operator', 'reader'] as const) {
    writeFileSync(tokenOf(name), `${tokens.of(name)}\n`, { mode: 0o600 });
  }
  env = { TUNEPLANE_URL: gate.url, TUNEPLANE_TOKEN_FILE: tokenOf('console') };
});
afterAll(async () => {
  await gate?.stop();
  await engine?.stop();
});

const tokenOf = (name: string): string => join(folder, `token-${name}`);

/** Writes a request and gives the name of its file. */
function request(runId: string, count: number): string {
  const file = join(folder, `${runId}.json`);
  writeFileSync(file, JSON.stringify(jobToPost(runId, count)));
  return file;
}

describe('gpu-gate admit', () => {
  test('starts a job, says on which cards, and says the same again', async () => {
    const file = request('train-1', 2);
    const first = await runCommand(['admit', '-f', file], { env });
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toMatch(/^admitted: train-1 runs on cards 0, 1 as tuneplane-train-1\n {2}\S/);
    const again = await runCommand(['admit', '-f', '-', '--url', socket], {
      env,
      input: JSON.stringify(jobToPost('train-1', 2)),
    });
    expect(again.stdout).toContain('was admitted before and is running on cards 0, 1');
    const json = await runCommand(['admit', '-f', file, '--json'], { env });
    expect(JSON.parse(json.stdout)).toMatchObject({ decision: 'admitted', replayed: true, gpus: [0, 1] });
  });

  test('says what a dry run would come to, and changes nothing', async () => {
    const would = await runCommand(['admit', '-f', request('dry', 6), '--dry-run'], { env });
    expect(would).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('would be admitted: dry on cards 2, 3, 4, 5, 6, 7'),
    });
    expect((await runCommand(['admit', '-f', request('dry', 7), '--dry-run'], { env })).code).toBe(3);
    expect((await gate.get('/runs/dry')).status).toBe(404);
  });

  test('ends with a code for each answer', async () => {
    const wait = await runCommand(['admit', '-f', request('train-2', 7)], { env });
    expect(wait).toMatchObject({ code: 3, stderr: '' });
    expect(wait.stdout).toMatch(/^wait: train-2 asks for 7, 6 free\n {2}8 cards, 6 free.*\n {2}job_held: cards 0, 1$/m);
    const much = await runCommand(['admit', '-f', request('train-3', 9)], { env });
    expect(much).toMatchObject({ code: 5, stdout: '', stderr: expect.stringContaining('refused (422 unsatisfiable)') });
    const reader = await runCommand(['admit', '-f', request('train-3', 1), '--token-file', tokenOf('reader')], { env });
    expect(reader).toMatchObject({ code: 5, stderr: expect.stringContaining('(403 forbidden)') });
    const nobody = await runCommand(['admit', '-f', request('train-3', 1)], { env: { TUNEPLANE_URL: gate.url } });
    expect(nobody).toMatchObject({ code: 5, stderr: expect.stringContaining('TUNEPLANE_TOKEN_FILE') });
    const elsewhere = await runCommand(
      ['admit', '-f', request('train-3', 1), '--wait', '--url', `127.0.0.1:${await freePort()}`],
      { env },
    );
    expect(elsewhere).toMatchObject({ code: 6, stderr: expect.stringContaining('ECONNREFUSED') });
  });

  test.each([
    ['a file that is not there', ['-f', 'no-such-file.json'], 'no-such-file.json cannot be read'],
    ['a file that is no JSON', ['-f', tokens.path], 'expected JSON'],
    ['no file', [], "required option '-f, --file"],
    ['a wait of no seconds', ['-f', request('a', 1), '--wait=soon'], '--wait is "soon": expected seconds'],
    ['an address that is none', ['-f', request('a', 1), '--url', 'here'], '--url is "here"'],
    ['a token that is not there', ['-f', request('a', 1), '--token-file', '/no/token'], 'the token cannot be read'],
    ['an option that there is not', ['-f', request('a', 1), '--token', 'secret'], 'unknown option'],
  ])('asks nobody with %s, and ends with 2', async (_says, args, words) => {
    const { code, stderr } = await runCommand(['admit', ...args], { env });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(words) });
  });

  test('waits for its turn with --wait, and is admitted when it comes', async () => {
    const waiting = startCommand(['admit', '-f', request('train-4', 7), '--wait'], { env });
    await expect.poll(waiting.stderr).toContain('wait: train-4 asks for 7, 6 free');
    await engine.docker.getContainer('tuneplane-train-1').kill();
    const { code, stdout, stderr } = await waiting.ended;
    expect(code).toBe(0);
    expect(stdout).toMatch(/^admitted: train-4 runs on cards 0, 1, 2, 3, 4, 5, 6 /);
    // Plain lines where it is no terminal: nothing is written over.
    expect(stderr.includes('\r')).toBe(false);
  });

  test('gives up its wait in time, and says that a run has ended', async () => {
    expect((await runCommand(['admit', '-f', request('train-5', 2), '--wait=0.5'], { env })).code).toBe(3);
    const ended = await runCommand(['admit', '-f', request('train-1', 2)], { env });
    expect(ended).toMatchObject({ code: 4, stdout: expect.stringContaining('ended with exit code 137') });
  });

  test('shows one line on a terminal, and leaves it in order at Ctrl-C', async () => {
    const waiting = startCommand(['admit', '-f', request('train-6', 2), '--wait'], { env, terminal: true });
    await expect.poll(waiting.stdout).toMatch(/asks again in 4 s/);
    waiting.type('\u0003');
    const { code, stdout } = await waiting.ended;
    expect(code).toBe(130);
    const last = stdout.split('\r\u001B[K').at(-1);
    expect(last).toBe('gpu-gate: interrupted while it waited: nothing was started\r\n');
    expect(stdout.split('\n')).toHaveLength(2);
  });
});

describe('gpu-gate runs and remove', () => {
  test('list the runs, refuse to remove one that lives, and remove one that has ended', async () => {
    const { stdout } = await runCommand(['runs'], { env });
    expect(stdout).toMatch(/^run +state +user +cards +exit +since +image +error\n/);
    expect(stdout).toMatch(/^train-1 +exited +\S+ +0,1 +137 +20/m);
    expect(stdout).toMatch(/^train-4 +running +\S+ +0,1,2,3,4,5,6 +- +20/m);
    const alive = await runCommand(['remove', 'train-4'], { env });
    expect(alive).toMatchObject({ code: 5, stderr: expect.stringContaining('run_alive') });
    expect(await runCommand(['remove', 'train-1'], { env })).toEqual({
      code: 0,
      stdout: 'removed: train-1\n',
      stderr: '',
    });
    expect((await runCommand(['remove', 'train-1'], { env })).code).toBe(5);
  });
});

describe('gpu-gate exclude, include and forget', () => {
  const operator = () => ({ env: { ...env, TUNEPLANE_TOKEN_FILE: tokenOf('operator') } });

  test('take a card out by its index or uuid, and back', async () => {
    const out = await runCommand(['exclude', '7', '--reason', 'fan replacement'], operator());
    const uuid = (await gate.cards()).cards[7]?.uuid ?? '';
    expect(out).toEqual({ code: 0, stdout: `taken out: ${uuid}, card 7, is now excluded\n`, stderr: '' });
    expect((await gate.cards()).cards[7]?.excluded).toMatchObject({ reason: 'fan replacement' });
    const held = await runCommand(['exclude', '0', '--reason', 'noise'], operator());
    expect(held.stdout).toContain('train-4 runs on it and is left alone');
    for (const card of ['0', uuid]) expect((await runCommand(['include', card], operator())).code).toBe(0);
    expect((await gate.cards()).counts.excluded).toBe(0);
    const again = await runCommand(['include', '7'], operator());
    expect(again).toEqual({ code: 0, stdout: `it had not been taken out: ${uuid}, card 7, is now free\n`, stderr: '' });
  });

  test('take a card out until a time, and show by whom and until when', async () => {
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const out = await runCommand(['exclude', '7', '--reason', 'burn-in', '--until', until], operator());
    expect(out).toMatchObject({ code: 0, stdout: expect.stringContaining(`is now excluded, out until ${until}`) });
    const { stdout } = await runCommand(['status'], { env });
    expect(stdout).toContain(`out by operator until ${until}: burn-in`);
    const before = Date.now();
    await runCommand(['exclude', '7', '--reason', 'burn-in', '--until', '7d'], operator());
    const told = Date.parse((await gate.cards()).cards[7]?.excluded?.until ?? '');
    expect(told).toBeGreaterThanOrEqual(before + 7 * 86_400_000);
    expect(told).toBeLessThanOrEqual(Date.now() + 7 * 86_400_000);
    expect((await runCommand(['include', '7'], operator())).code).toBe(0);
  });

  test.each([
    ['an end that is no time is refused', ['exclude', '7', '--reason', 'x', '--until', 'noon'], 2, '--until is "noon"'],
    [
      'so is one that has passed',
      ['exclude', '7', '--reason', 'x', '--until', '2020-01-01T00:00:00Z'],
      5,
      'in the future',
    ],
    ['a card in the machine cannot be forgotten', ['forget', '7'], 5, 'card_present'],
    ['an index that no card has is refused', ['include', '99'], 5, 'no card has the index 99'],
    ['a uuid that nobody knows is refused', ['include', 'GPU-no/../such'], 5, 'not_found'],
    ['a reason must be given', ['exclude', '7'], 2, '--reason'],
    ['and must say something', ['exclude', '7', '--reason', ' '], 5, 'invalid_request'],
  ])('%s', async (_says, args, code, words) => {
    expect(await runCommand(args, operator())).toMatchObject({ code, stderr: expect.stringContaining(words) });
  });
});

describe('gpu-gate status', () => {
  test('shows each card with its holder, the probes and the lock', async () => {
    const { code, stdout, stderr } = await runCommand(['status'], { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.split('\n');
    expect(lines[0]).toContain(`${gate.url}  ready`);
    expect(lines[1]).toMatch(/^8 cards, 1 free; 7 held by jobs \(cards 0,1,2,3,4,5,6: train-4\)/);
    expect(stdout).toMatch(/^0 +NVIDIA H100 80GB HBM3 +job_held +train-4 +0\.\d \/ 79\.\d GiB +\S.*$/m);
    expect(stdout).toMatch(/^7 +NVIDIA H100 80GB HBM3 +free +- /m);
    expect(stdout).toMatch(/^probes: gpus ok \d+ ms, processes ok/m);
    expect(stdout).toMatch(/^lock: available$/m);
  });

  test('shows who waits, for how many cards and since when', async () => {
    expect((await runCommand(['admit', '-f', request('late', 7)], { env })).code).toBe(3);
    const { stdout } = await runCommand(['status'], { env });
    expect(stdout).toMatch(/^place +run +user +cards +waits +since$/m);
    expect(stdout).toMatch(/^\d+ +late +console +7 +\d+ s +20\S+Z$/m);
    const json = JSON.parse((await runCommand(['status', '--json'], { env })).stdout);
    expect(json.line).toContainEqual(expect.objectContaining({ run_id: 'late', count: 7, principal: 'console' }));
    await gate.emptyLine();
  });

  test('prints the answers of the gate as JSON', async () => {
    const { stdout } = await runCommand(['status', '--json', '--url', socket], { env });
    expect(JSON.parse(stdout)).toMatchObject({
      cards: { counts: { job_held: 7, free: 1 } },
      readiness: { ready: true },
    });
  });

  test('warns of a token that everybody can read, and goes on', async () => {
    const open = join(folder, 'open-token');
    writeFileSync(open, tokens.of('reader'));
    chmodSync(open, 0o644);
    const { code, stderr } = await runCommand(['status', '--token-file', open], { env });
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining('can be read by everybody (mode 644)'),
    });
    expect(stderr).not.toContain(tokens.of('reader'));
  });

  test('ends with 6 where no gate answers, and with 5 where it is not let in', async () => {
    const nowhere = await runCommand(['status'], { env: { TUNEPLANE_LISTEN: `127.0.0.1:${await freePort()}` } });
    expect(nowhere).toMatchObject({ code: 6, stdout: '' });
    expect((await runCommand(['status'], { env: { TUNEPLANE_URL: gate.url } })).code).toBe(5);
  });

  test('draws itself anew on a terminal with --watch, until Ctrl-C', async () => {
    const watching = startCommand(['status', '--watch'], { env, terminal: true });
    await expect.poll(() => watching.stdout().split('\u001B[H').length).toBeGreaterThan(2);
    watching.type('\u0003');
    const { code, stdout } = await watching.ended;
    expect(code).toBe(0);
    expect(stdout).toContain('train-4');
  });

  test('ends when nobody reads it any more', async () => {
    const command = `${process.execPath} ${COMMAND} status --watch | head -1`;
    const { stdout, stderr } = await execa('sh', ['-c', command], {
      env: { ...env, PATH: '/usr/bin:/bin' },
      extendEnv: false,
      timeout: 20_000,
    });
    expect({ stdout, stderr }).toEqual({ stdout: expect.stringContaining(gate.url), stderr: '' });
  });

  test('prints one line of JSON each time with --watch --json, and ends when told to', async () => {
    const watching = startCommand(['status', '--watch', '--json'], { env });
    await expect.poll(() => watching.stdout().split('\n').length).toBeGreaterThan(2);
    watching.kill('SIGTERM');
    const { code, stdout } = await watching.ended;
    expect(code).toBe(0);
    for (const line of stdout.trim().split('\n'))
      expect(JSON.parse(line)).toMatchObject({ cards: { cards: expect.any(Array) } });
  });
});
