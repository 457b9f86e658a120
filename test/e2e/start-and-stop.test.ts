import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startDockerProxy, type DockerProxy } from '../support/docker/docker-proxy.js';
import { startEngine, type Engine } from '../support/docker/engine.js';
import { startGate, type GateOptions } from '../support/gate.js';
import { jobToPost } from '../support/jobs-to-post.js';
import { startRedis, type TestRedis } from '../support/services/redis.js';

describe('a gate that cannot be as it was told to be says so and ends', () => {
  test.each<[string, GateOptions, RegExp]>([
    [
      'several allocators and no Redis',
      { settings: { TUNEPLANE_PROCESSES: '2' } },
      /TUNEPLANE_PROCESSES is "2" and TUNEPLANE_REDIS_URL is not set/,
    ],
    [
      'everybody may call and nobody has a token',
      { settings: { TUNEPLANE_LISTEN: '0.0.0.0:0' } },
      /TUNEPLANE_TOKENS_FILE is not set/,
    ],
    [
      'a tokens file that is not there',
      { settings: { TUNEPLANE_TOKENS_FILE: '/nowhere/tokens' } },
      /TUNEPLANE_TOKENS_FILE: .*\/nowhere\/tokens/,
    ],
    [
      'a policy file that is not there',
      { settings: { TUNEPLANE_POLICY_FILE: '/nowhere/policy' } },
      /TUNEPLANE_POLICY_FILE: .*\/nowhere\/policy/,
    ],
    ['an unknown flag', { flags: ['--lisen', '127.0.0.1:1'] }, /--lisen.*--listen/],
    [
      'a folder for claims that anybody can write',
      { settings: { TUNEPLANE_RUNTIME: 'process', TUNEPLANE_CLAIMS_DIR: '/tmp' } },
      /\/tmp must belong to .* expected mode 700/,
    ],
  ])('%s', async (_says, options, words) => {
    await expect(startGate(options)).rejects.toThrow(words);
  });

  test('two gates on one state folder', async () => {
    const stateDir = mkdtempSync(join(tmpdir(), 'state-'));
    const first = await startGate({ stateDir });
    await expect(startGate({ stateDir })).rejects.toThrow(/TUNEPLANE_STATE_DIR|state folder|another gate/i);
    expect(await first.stop()).toMatchObject({ code: 0 });
    const second = await startGate({ stateDir });
    await second.stop();
  });

  test('an engine that would drop the cards of a job', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'podman-'));
    const podman = createServer((_req, res) => {
      res.setHeader('content-type', 'application/json');
      res.end(JSON.stringify({ Version: '4.3.1', Components: [{ Name: 'Podman Engine', Version: '4.3.1' }] }));
    });
    await new Promise<void>((resolve) => podman.listen(join(folder, 'podman.sock'), resolve));
    await expect(startGate({ engine: { dockerHost: `unix://${folder}/podman.sock` } })).rejects.toThrow(/Podman/);
    podman.closeAllConnections();
    await new Promise((resolve) => podman.close(resolve));
  });
});

describe('SIGTERM', () => {
  let engine: Engine;
  let proxy: DockerProxy;
  let redis: TestRedis;
  beforeAll(async () => {
    [engine, redis] = await Promise.all([startEngine(), startRedis()]);
    proxy = await startDockerProxy(engine.socketPath);
  });
  afterAll(async () => {
    await proxy?.stop();
    await redis?.stop();
    await engine?.stop();
  });

  test('lets the admission under way end, refuses new ones, gives the lock back and exits with 0', async () => {
    const gate = await startGate({ engine: proxy, redisUrl: redis.url, settings: { TUNEPLANE_LOCK_THROUGH: 'start' } });
    engine.hook('hang');
    const first = gate.post('/admit', jobToPost('first'));
    await expect.poll(() => proxy.asked.some((what) => what.endsWith('/start'))).toBe(true);
    const ending = gate.stop('SIGTERM');
    await expect
      .poll(async () => (await gate.get('/readyz')).body)
      .toMatchObject({ ready: false, parts: { draining: { ok: false } } });
    const refused = await gate.post('/admit', jobToPost('second'));
    expect(refused.status).toBe(503);
    expect(refused.body).toMatchObject({ code: 'draining', retryable: true });
    expect((await gate.get('/metrics')).status).toBe(200);
    expect(await redis.client().exists('gpu-alloc:leader')).toBe(1);
    engine.hook('pass');
    expect((await first).body).toMatchObject({ decision: 'admitted' });
    expect(await ending).toMatchObject({ code: 0 });
    expect(await redis.client().exists('gpu-alloc:leader')).toBe(0);
  });
});
