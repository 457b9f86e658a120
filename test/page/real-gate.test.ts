import { afterAll, beforeAll, expect, test } from 'vitest';
import { startEngine, type Engine } from '../support/docker/engine.js';
import { startGate, type Gate } from '../support/gate.js';
import { makeTokens } from '../support/tokens.js';
import { barriers, browserForThisFile, type Reader } from './browser.js';

/** The built gate with a tokens file, a real Docker Engine and the stand-in with 8 cards. */
const browser = browserForThisFile();
const tokens = makeTokens({ console: 'admit,read', starter: 'admit', guest: 'read' });
const BUSY = { run_id: 'train-17', count: 2, container: { image: 'gate-test:latest', command: ['sleep', '600'] } };
const SECRET = 'value-of-an-env';

let engine: Engine;
let gate: Gate;
beforeAll(async () => {
  engine = await startEngine();
  const settings = { TUNEPLANE_TOKENS_FILE: tokens.path };
  gate = await startGate({ engine, settings, token: tokens.of('console') });
});
afterAll(async () => {
  await gate?.stop();
  await engine?.stop();
});

async function enter(page: Reader, token: string): Promise<void> {
  await page.getByLabel('Token with the role read').fill(token);
  await page.keyboard.press('Enter');
}

test('the page opens without a token, shows nothing of the machine, and asks for one', async () => {
  const page = await browser.open(gate.url);
  await page.locator('#token-form').waitFor();
  expect(await page.locator('#shown').isVisible()).toBe(false);
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('token');
  expect(await barriers(page)).toEqual([]);

  await enter(page, 'not-a-token');
  await expect.poll(() => page.locator('#token-says').innerText()).toMatch(/a token of this gate; another one came/);
  await enter(page, tokens.of('starter'));
  await expect.poll(() => page.locator('#token-says').innerText()).toMatch(/starter does not have the role read/);
  expect(await page.locator('#shown').isVisible()).toBe(false);

  await enter(page, tokens.of('console'));
  await page.locator('#shown').waitFor();
  expect(await page.locator('#token-form').isVisible()).toBe(false);
  expect(await page.locator('.card').count()).toBe(8);
  expect(page.trouble).toEqual({ violations: [], errors: [] });
});

test('the token stays with the tab and goes when the reader says so', async () => {
  const page = await browser.open(gate.url);
  await enter(page, tokens.of('console'));
  await page.locator('#shown').waitFor();
  await page.reload();
  await page.locator('#shown').waitFor();
  expect(page.url()).toBe(`${gate.url}/`);
  const saved = page.waitForEvent('download');
  await page.getByRole('link', { name: 'OpenAPI' }).click();
  expect((await saved).suggestedFilename()).toBe('openapi.json');

  await page.getByRole('button', { name: 'Forget the token' }).click();
  await page.locator('#token-form').waitFor();
  expect(await page.title()).toBe('GPU gate');
  expect(await page.locator('body').textContent()).not.toMatch(/NVIDIA|tuneplane-gpu-gate 0/);
  expect(await page.evaluate(() => [sessionStorage.length, localStorage.length, document.cookie])).toEqual([0, 0, '']);
  expect(page.trouble).toEqual({ violations: [], errors: [] });
});

test('a token that is revoked while somebody looks shows nothing more', async () => {
  const page = await browser.open(gate.url);
  await enter(page, tokens.of('guest'));
  await page.locator('#shown').waitFor();
  tokens.revoke('guest');
  await expect
    .poll(async () => {
      await page.clock.runFor(2_100);
      return page.locator('#token-form').isVisible();
    })
    .toBe(true);
  expect(await page.locator('body').textContent()).not.toContain('NVIDIA');
});

test('a job that is admitted while somebody looks appears on its cards and among the decisions', async () => {
  const page = await browser.open(gate.url);
  await enter(page, tokens.of('console'));
  await page.locator('#shown').waitFor();
  const job = { ...BUSY, container: { ...BUSY.container, env: { KEY: SECRET } } };
  expect((await gate.post('/admit', job)).status).toBe(201);
  await page.clock.runFor(2_100);
  const held = page.locator('.card[data-state="job_held"]');
  await expect.poll(() => held.count()).toBe(2);
  await expect.poll(() => held.first().innerText()).toMatch(/Card\s+0.*train-17.*running · for \d s · by console/s);
  expect(await page.locator('#decisions li').first().innerText()).toMatch(/admitted\s+train-17\s+Cards 0,1: \w+/);

  expect((await gate.post('/admit', { ...BUSY, run_id: 'too-big', count: 8 })).body).toMatchObject({
    decision: 'wait',
  });
  await page.clock.runFor(2_100);
  await expect
    .poll(() => page.locator('#decisions li').first().innerText())
    .toMatch(/wait\s+too-big\s+8 cards asked for: 8 cards, 6 free/);
  expect((await gate.get('/status.json')).text).not.toContain(SECRET);
});

test('with the gate killed the page says so, and a new gate on the same state has the same cards', async () => {
  const page = await browser.open(gate.url);
  await enter(page, tokens.of('console'));
  await page.locator('#shown').waitFor();
  await gate.kill();
  await page.clock.runFor(2_100);
  await expect.poll(() => page.locator('#alarm').innerText()).toMatch(/^The gate does not answer\./);
  const settings = { TUNEPLANE_TOKENS_FILE: tokens.path };
  const { stateDir } = gate;
  const alsoListen = [new URL(gate.url).host];
  gate = await startGate({ engine, stateDir, settings, alsoListen, token: tokens.of('console') });
  await page.clock.runFor(2_100);
  await page.locator('#alarm').waitFor({ state: 'hidden' });
  expect(await page.locator('.card[data-state="job_held"]').count()).toBe(2);
});
