import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGate, type Gate } from '../support/gate.js';
import { jobToPost } from '../support/jobs-to-post.js';
import { by } from '../support/metrics-page.js';
import { makeTokens } from '../support/tokens.js';

const folder = mkdtempSync(join(tmpdir(), 'rule-files-'));
const policy = join(folder, 'policy.json');
const tokens = makeTokens({ console: 'admit,read', other: 'read' });

let gate: Gate;
beforeAll(async () => {
  writeFileSync(policy, '{"max": {"cards": 1}}', { mode: 0o644 });
  gate = await startGate({ settings: { TUNEPLANE_TOKENS_FILE: tokens.path, TUNEPLANE_POLICY_FILE: policy } });
});
afterAll(async () => {
  await gate?.stop();
  rmSync(folder, { recursive: true });
});

/** Seconds until a file that nobody asked for is looked at. */
const SOON = { timeout: 15_000 };
const success = async () => by(await gate.metrics(), 'tuneplane_gpu_config_reload_success', 'file');
const files = async () => ((await gate.get('/readyz')).body as { parts: { files: object } }).parts.files;
const asks = async (count: number) => {
  const answer = await gate.post('/admit?dry_run=true', jobToPost('x', count), tokens.as('console'));
  return (answer.body as { code?: string }).code;
};

test('a policy that was broken by hand is told of by readyz and the metrics, and the last good one stays in force', async () => {
  expect(await success()).toEqual({ tokens: 1, policy: 1 });
  expect(await files()).toEqual({ ok: true, detail: null });
  writeFileSync(policy, '{"max": {"cards": 2}');
  await expect.poll(success, SOON).toEqual({ tokens: 1, policy: 0 });
  expect(await files()).toMatchObject({ ok: true, detail: expect.stringContaining('the policy file cannot be used') });
  // Of two cards no engine need be asked: the policy says no.
  expect(await asks(2)).toBe('policy_denied');
  expect(await asks(1)).toBe('docker_unavailable');
  writeFileSync(policy, '{"max": {"cards": 2}}');
  expect(await asks(2)).toBe('docker_unavailable');
  expect(await success()).toEqual({ tokens: 1, policy: 1 });
});

test('a token that was struck out is out at the next request, and a file that others can write lets nobody in', async () => {
  const status = async (name: 'console' | 'other') => (await gate.get('/cards', tokens.as(name))).status;
  expect([await status('console'), await status('other')]).toEqual([200, 200]);
  tokens.revoke('other');
  expect([await status('console'), await status('other')]).toEqual([200, 401]);
  chmodSync(tokens.path, 0o622);
  expect([await status('console'), await status('other')]).toEqual([401, 401]);
  expect(await success()).toEqual({ tokens: 0, policy: 1 });
  expect(await files()).toMatchObject({ ok: false, detail: expect.stringContaining('permits nobody anything') });
  chmodSync(tokens.path, 0o600);
  expect(await status('console')).toBe(200);
});

test('SIGHUP ends nothing: the files are read again at once', async () => {
  writeFileSync(policy, '{"max": {"cards": 3}');
  process.kill(gate.pid, 'SIGHUP');
  await expect.poll(gate.stderr).toContain('tokens, policy and web config were looked at again');
  expect(await success()).toEqual({ tokens: 1, policy: 0 });
  writeFileSync(policy, '{"max": {"cards": 2}}');
  process.kill(gate.pid, 'SIGHUP');
  await expect.poll(success).toEqual({ tokens: 1, policy: 1 });
  expect((await gate.get('/healthz')).status).toBe(200);
});
