import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startEngine, type Engine } from '../support/docker/engine.js';
import { startGate, type Gate } from '../support/gate.js';
import { jobToPost } from '../support/jobs-to-post.js';
import { makeTokens } from '../support/tokens.js';

/**
 * A gate that was started before Docker, with an engine that has all of its folders where a policy gives them away: whoever has
 * one of them has the machine, so no policy can.
 */
const folder = mkdtempSync('/srv/off-limits-');
const at = (...names: readonly string[]) => join(folder, ...names);
const tokens = makeTokens({ console: 'admit' });

let engine: Engine;
let gate: Gate;

beforeAll(async () => {
  engine = await startEngine();
  await engine.kill();
  chmodSync(folder, 0o755);
  for (const name of ['audit', 'docker', 'password', 'policy', 'sets/cars', 'state', 'gate']) {
    mkdirSync(at(name), { recursive: true });
  }
  writeFileSync(at('password/redis'), 'x');
  writeFileSync(at('docker/config.json'), '{}');
  const roots = [folder, engine.folder, dirname(tokens.path)];
  const mounts = roots.map((root) => ({ root, read_only: true }));
  writeFileSync(at('policy/policy.json'), JSON.stringify({ mounts }));
  gate = await startGate({
    engine,
    stateDir: at('state'),
    alsoListen: [`unix:${at('gate/gate.sock')}`],
    token: tokens.of('console'),
    settings: {
      TUNEPLANE_TOKENS_FILE: tokens.path,
      TUNEPLANE_POLICY_FILE: at('policy/policy.json'),
      TUNEPLANE_AUDIT_FILE: at('audit/audit.log'),
      TUNEPLANE_DOCKER_CONFIG: at('docker/config.json'),
    },
  });
}, 60_000);
afterAll(async () => {
  await gate?.stop();
  await engine?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const mounting = (source: string) =>
  jobToPost('mount', 0, {
    mounts: [{ type: 'bind', source, target: '/m', read_only: true }],
    ulimits: { memlock: 65536 },
  });

test('while Docker does not answer nothing is mounted, and it can be asked again', async () => {
  const answer = await gate.post('/admit?dry_run=true', mounting(at('sets')));
  expect(answer.body).toMatchObject({
    code: 'docker_unavailable',
    retryable: true,
    detail: expect.stringContaining('nothing is mounted now: Docker cannot be reached'),
  });
});

test("once it does, nothing of the engine's and nothing of the gate's own is given, and everything else is", async () => {
  await engine.restart();
  const never = {
    "the engine's socket": engine.socketPath,
    "the engine's data folder, with the environment of every job": join(engine.folder, 'data'),
    'a folder in it': join(engine.folder, 'data/containers'),
    "the engine's run-time files": join(engine.folder, 'exec'),
    'the folder that holds all of them': engine.folder,
    'the tokens': tokens.path,
    'the folder of the tokens': dirname(tokens.path),
    'the policy': at('policy/policy.json'),
    'the folder of the policy': at('policy'),
    'the audit': at('audit/audit.log'),
    'the credentials for registries': at('docker'),
    'the state': at('state'),
    "the gate's own socket": at('gate/gate.sock'),
    'the folder that holds all of these': folder,
  };
  const answers: Record<string, unknown> = {};
  for (const [what, source] of Object.entries(never)) {
    answers[what] = (await gate.post('/admit', mounting(source))).body;
  }
  const refused = { code: 'policy_denied', detail: expect.stringContaining('in a folder that no job may mount') };
  expect(answers).toMatchObject(Object.fromEntries(Object.keys(never).map((what) => [what, refused])));
  const given = await gate.post('/admit', mounting(at('sets/cars')));
  expect(given.body).toMatchObject({ decision: 'admitted' });
}, 60_000);
