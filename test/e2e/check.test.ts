import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defaultMachine } from '../../src/stand-in/machine/build-machine.js';
import type { Machine } from '../../src/stand-in/machine/machine.js';
import { folderWithCards, runCommand, type Said } from '../support/command.js';
import { startGate, type Gate } from '../support/gate.js';
import { freePort } from '../support/services/redis.js';

/** `gpu-gate check` as a prolog and cron call it: one line and one exit code, from a gate or by a look of its own. */

const [WELL, UNFIT, USAGE, BLIND] = [0, 1, 2, 6];

/** Card 2 has uncorrected ECC errors. */
function withBrokenCard(): Machine {
  const machine = defaultMachine();
  const ecc = machine.cards[2]?.ecc;
  if (ecc != null) ecc.uncorrected_volatile_sram = ecc.uncorrected_volatile = 3;
  return machine;
}

const oneLine = ({ stdout }: Said): string => {
  expect(stdout).toMatch(/^[^\n]+\n$/);
  return stdout.trimEnd();
};

describe('asks the gate that runs', () => {
  let gate: Gate;
  beforeAll(async () => {
    gate = await startGate({ machine: withBrokenCard(), settings: { TUNEPLANE_SCRAPE_MAX_AGE_MS: '0' } });
    const uuid = (await gate.cards()).cards[5]?.uuid;
    expect((await gate.post(`/cards/${uuid}/exclude`, { reason: 'fan' })).status).toBe(200);
  });
  afterAll(() => gate?.stop());

  const check = (...args: string[]): Promise<Said> => runCommand(['check', '--url', gate.url, ...args]);

  test.each([
    ['the cards of this job are fit', ['--cards', '0,1'], WELL, 'ok: 2 cards are fit'],
    ['one is ill', ['--cards', '1,2'], UNFIT, 'unfit: card 2: '],
    ['an operator took one out', ['--cards', '5'], UNFIT, 'unfit: card 5: out by operator: fan'],
    ['one is not here', ['--cards', '9'], UNFIT, 'unfit: card 9 is not here'],
    ['one of all is ill', [], UNFIT, 'unfit: card 2: '],
  ])('%s', async (_says, args, code, says) => {
    const said = await check(...args);
    expect(oneLine(said)).toContain(says);
    expect(oneLine(said)).toContain(`says the gate at ${gate.url}`);
    expect(said).toMatchObject({ code, stderr: '' });
  });

  test('what is no card is a wrong command line', async () => {
    expect(await check('--cards', 'first')).toMatchObject({
      code: USAGE,
      stdout: '',
      stderr: expect.stringContaining('expected'),
    });
  });

  test('as JSON too', async () => {
    const said = await check('--cards', '5', '--json');
    expect(said.code).toBe(UNFIT);
    expect(JSON.parse(said.stdout)).toMatchObject({ result: 'unfit', says: 'card 5: out by operator: fan' });
  });

  test('a gate that is blind does not say that they are fit', async () => {
    gate.setNvidiaSmi('none');
    const said = await check('--cards', '0');
    expect(oneLine(said)).toContain('unknown: the cards could not be seen: ');
    expect(said.code).toBe(BLIND);
  });
});

describe('without a gate looks itself', () => {
  const at = folderWithCards(withBrokenCard());
  let env: Record<string, string>;
  beforeAll(async () => {
    const stateDir = join(at.folder, 'state');
    // A gate that ended has left an exclusion.
    const gate = await startGate({ machine: withBrokenCard(), stateDir });
    const uuid = (await gate.cards()).cards[5]?.uuid;
    await gate.post(`/cards/${uuid}/exclude`, { reason: 'fan' });
    await gate.stop();
    env = { ...at.env, TUNEPLANE_STATE_DIR: stateDir, TUNEPLANE_URL: `http://127.0.0.1:${await freePort()}` };
  });
  const check = (args: readonly string[], more: Record<string, string> = {}): Promise<Said> =>
    runCommand(['check', ...args], { env: { ...env, ...more } });

  test.each([
    ['the cards of this job are fit', ['--cards', '0,1'], WELL, 'ok: 2 cards are fit'],
    ['one is ill', ['--cards', '2'], UNFIT, 'unfit: card 2: '],
    ['an operator took one out', ['--cards', '5'], UNFIT, 'unfit: card 5: out by operator: fan'],
    ['one of all is ill', [], UNFIT, 'unfit: card 2: '],
  ])('%s', async (_says, args, code, says) => {
    const said = await check(args);
    expect(oneLine(said)).toContain(says);
    expect(oneLine(said)).toContain('by a look of its own, since no gate answers');
    expect(said).toMatchObject({ code, stderr: '' });
  });

  test('and is blind where there is nothing to look with', async () => {
    const said = await check(['--cards', '0'], { TUNEPLANE_NVIDIA_SMI: '/nowhere/nvidia-smi' });
    expect(oneLine(said)).toContain('unknown: card 0 could not be seen: ');
    expect(said.code).toBe(BLIND);
  });

  test('a setting that is wrong is a wrong command line', async () => {
    const said = await check([], { TUNEPLANE_PROBE_TIMEOUT_S: 'soon' });
    expect(said).toMatchObject({
      code: USAGE,
      stdout: '',
      stderr: expect.stringContaining('TUNEPLANE_PROBE_TIMEOUT_S'),
    });
  });
});
