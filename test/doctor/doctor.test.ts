import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lockedMemoryLimit } from '../../src/docker/locked-memory.js';
import type { Finding } from '../../src/doctor/check.js';
import { cardAt, defaultMachine, putLoad } from '../../src/stand-in/machine/build-machine.js';
import { folderWithCards, runCommand } from '../support/command.js';
import { startEngine, type Engine } from '../support/docker/engine.js';
import { startStrangeDocker } from '../support/docker/strange-docker.js';
import { startGate } from '../support/gate.js';
import { freePort, startRedis, type TestRedis } from '../support/services/redis.js';
import { makeTokens } from '../support/tokens.js';

/** The real command on real parts: each check once where all is well, and once where it is not. */

/** A machine on which somebody computes, so that the process list has somebody in it. */
function busyMachine() {
  const machine = defaultMachine();
  putLoad(cardAt(machine, 0), 900, { pid: 4242, name: 'python', memory_mib: 900 });
  return machine;
}

async function doctor(env: Readonly<Record<string, string>>, ...flags: readonly string[]) {
  const said = await runCommand(['doctor', '--json', ...flags], { env });
  expect(said.stderr).toBe('');
  const findings = JSON.parse(said.stdout) as readonly Finding[];
  const states = Object.fromEntries(findings.map(({ name, state }) => [name, state]));
  return { code: said.code, findings, states, says: (name: string) => findings.find((one) => one.name === name)?.says };
}

let engine: Engine;
let redis: TestRedis;
const tokens = makeTokens({ console: 'admit,read' });
const { folder, env: cards } = folderWithCards(busyMachine());
const policy = join(folder, 'policy.json');
writeFileSync(policy, '{"images": ["registry.local/*"]}', { mode: 0o600 });

beforeAll(async () => {
  [engine, redis] = await Promise.all([startEngine(), startRedis()]);
});
afterAll(async () => {
  await Promise.all([engine?.stop(), redis?.stop()]);
});

describe('gpu-gate doctor', () => {
  test('finds nothing wrong where all is well, and changes nothing', async () => {
    const env = {
      ...cards,
      DOCKER_HOST: engine.dockerHost,
      TUNEPLANE_REDIS_URL: redis.url,
      TUNEPLANE_LISTEN: `127.0.0.1:${await freePort()},unix:${folder}/gate.sock`,
      TUNEPLANE_TOKENS_FILE: tokens.path,
      TUNEPLANE_POLICY_FILE: policy,
      TUNEPLANE_LOCAL_GPU_COUNT: '8',
      // Whether this machine shows its own is not the matter here.
      TUNEPLANE_KERNEL_LOG: policy,
      TUNEPLANE_STATE_DIR: join(folder, 'state'),
    };
    const before = await redis.client().keys('*');
    const { code, states, findings } = await doctor(env, '--try-image', engine.image);
    // Whether the test engine may lift limits is this machine's affair.
    const memlock = (await lockedMemoryLimit()) === -1 ? 'ok' : 'warning';
    expect(states, JSON.stringify(findings)).toEqual({
      settings: 'ok',
      'nvidia-smi': 'ok',
      'persistence-mode': 'ok',
      'process-list': 'ok',
      'card-count': 'ok',
      docker: 'ok',
      'docker-api': 'ok',
      podman: 'ok',
      'gpu-support': 'ok',
      'device-request': 'ok',
      'cgroup-driver': 'ok',
      images: 'ok',
      memlock,
      redis: 'ok',
      'redis-role': 'ok',
      'redis-eviction': 'ok',
      'redis-clock': 'ok',
      'lock-key': 'ok',
      'tokens-file': 'ok',
      'policy-file': 'ok',
      'web-config-file': 'skipped',
      listen: 'ok',
      'state-folder': 'ok',
      'compute-mode': 'ok',
      'kernel-log': 'ok',
      wsl: 'ok',
      clock: 'ok',
    });
    expect(code).toBe(memlock === 'ok' ? 0 : 1);
    expect(await engine.docker.listContainers({ all: true })).toEqual([]);
    expect(await redis.client().keys('*')).toEqual(before);
  });

  test('knows the gate that runs already, on its address and in its folder, and its connection to Redis', async () => {
    const gate = await startGate({ engine, redisUrl: redis.url });
    const env = {
      ...cards,
      DOCKER_HOST: engine.dockerHost,
      TUNEPLANE_REDIS_URL: redis.url,
      TUNEPLANE_LISTEN: new URL(gate.url).host,
      TUNEPLANE_STATE_DIR: gate.stateDir,
    };
    const { states, says } = await doctor(env);
    expect(says('listen')).toContain('a gate answers, ready');
    expect(says('state-folder')).toContain('the running gate holds it');
    expect(states).toMatchObject({ listen: 'ok', 'state-folder': 'ok', 'lock-key': 'ok', 'device-request': 'skipped' });

    const beside = await doctor({ ...env, TUNEPLANE_LISTEN: `127.0.0.1:${await freePort()}` });
    expect(beside.states).toMatchObject({ listen: 'ok', 'state-folder': 'error' });
    await gate.stop();
  });

  test('tells everything that is wrong at once, with what to do', async () => {
    const machine = defaultMachine();
    for (const card of machine.cards) card.persistence_mode = false;
    putLoad(cardAt(machine, 5), 900, { pid: 4242, name: 'python', memory_mib: 900 });
    machine.process_list = 'invisible';
    const bad = folderWithCards(machine);
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const readable = makeTokens({ a: 'read' }).path;
    chmodSync(readable, 0o644);
    const wrongPolicy = join(bad.folder, 'policy.json');
    writeFileSync(wrongPolicy, '{"image": []}');
    const [weak, full] = await Promise.all([
      startEngine({
        nvidiaHook: false,
        flags: ['--add-runtime=nvidia-like=/usr/sbin/runc', '--default-runtime=nvidia-like'],
      }),
      startRedis(['--maxmemory', '200mb', '--maxmemory-policy', 'allkeys-lru']),
    ]);
    try {
      await greedyImage(weak);
      const { code, states, says, findings } = await doctor(
        {
          ...bad.env,
          DOCKER_HOST: weak.dockerHost,
          TUNEPLANE_REDIS_URL: full.url,
          TUNEPLANE_LISTEN: `127.0.0.1:${(other.address() as { port: number }).port}`,
          TUNEPLANE_TOKENS_FILE: readable,
          TUNEPLANE_POLICY_FILE: wrongPolicy,
          TUNEPLANE_LOCAL_GPU_COUNT: '9',
          TUNEPLANE_STATE_DIR: `${policy}/state`,
          TUNEPLANE_PROCESES: '2',
        },
        '--try-image',
        weak.image,
      );
      expect(code).toBe(2);
      expect(states, JSON.stringify(findings)).toMatchObject({
        settings: 'warning',
        'nvidia-smi': 'ok',
        'persistence-mode': 'warning',
        'process-list': 'warning',
        'card-count': 'error',
        docker: 'ok',
        'gpu-support': 'error',
        'device-request': 'error',
        images: 'warning',
        redis: 'ok',
        'redis-eviction': 'warning',
        'tokens-file': 'error',
        'policy-file': 'error',
        listen: 'error',
        'state-folder': 'error',
      });
      expect(says('process-list')).toContain('card 5: 900 MiB');
      expect(says('images')).toContain('greedy:latest');
      expect(says('device-request')).toContain('could not select device driver');
      expect(findings.filter(({ state, todo }) => state === 'error' && !todo)).toEqual([]);
      expect(await weak.docker.listContainers({ all: true })).toEqual([]);
    } finally {
      other.close();
      await Promise.all([weak.stop(), full.stop()]);
    }
  });

  test('says what is not there: nvidia-smi, Docker, Redis', async () => {
    const env = {
      HOME: folder,
      DOCKER_HOST: `unix://${folder}/no-docker.sock`,
      TUNEPLANE_NVIDIA_SMI: join(folder, 'no-nvidia-smi'),
      TUNEPLANE_REDIS_URL: `redis://127.0.0.1:${await freePort()}`,
      TUNEPLANE_LISTEN: `127.0.0.1:${await freePort()}`,
      TUNEPLANE_STATE_DIR: join(folder, 'state'),
      TUNEPLANE_TOKENS_FILE: join(folder, 'no-tokens'),
    };
    const { code, states, says } = await doctor(env);
    expect(code).toBe(2);
    expect(states).toMatchObject({
      'nvidia-smi': 'error',
      docker: 'error',
      redis: 'error',
      'tokens-file': 'error',
      listen: 'ok',
    });
    expect([says('nvidia-smi'), says('docker'), says('redis')]).toEqual([
      expect.stringContaining('ENOENT'),
      expect.stringContaining('no such socket'),
      expect.stringContaining('ECONNREFUSED'),
    ]);
    const errors = Object.entries(states).filter(([, state]) => state === 'error');
    // What follows from a missing part is unknown, and no error of its own.
    expect(errors.map(([name]) => name)).toEqual(['nvidia-smi', 'docker', 'redis', 'tokens-file']);
  });

  test('tells a replica, a password that is wrong, an engine that is Podman, and a driver that hangs, in its time', async () => {
    const machine = { ...defaultMachine(), hang: { at: 'init' as const } };
    const replica = await startRedis(['--replicaof', '127.0.0.1', String(redis.port)]);
    const podman = await startStrangeDocker(() => ({
      status: 200,
      body: '{"Version":"4.3.1","ApiVersion":"1.41","Components":[{"Name":"Podman Engine"}],"CgroupDriver":"systemd"}',
    }));
    const settings = {
      ...folderWithCards(machine).env,
      TUNEPLANE_PROBE_TIMEOUT_S: '0.5',
      DOCKER_HOST: `unix://${podman.socketPath}`,
      TUNEPLANE_LISTEN: `127.0.0.1:${await freePort()}`,
      TUNEPLANE_STATE_DIR: join(folder, 'state'),
    };
    const { states, says } = await doctor({ ...settings, TUNEPLANE_REDIS_URL: replica.url });
    expect(states).toMatchObject({
      'nvidia-smi': 'error',
      podman: 'error',
      'cgroup-driver': 'warning',
      redis: 'error',
      'redis-role': 'error',
    });
    expect(says('nvidia-smi')).toContain('did not end after');
    expect(says('redis')).toContain('READONLY');
    const secret = await startRedis(['--requirepass', 'x']);
    const refused = await doctor({ ...settings, TUNEPLANE_REDIS_URL: secret.url, TUNEPLANE_RUNTIME: 'process' });
    expect(refused.says('redis')).toContain('NOAUTH');
    expect(refused.states['docker']).toBe('skipped');
    await Promise.all([replica.stop(), secret.stop(), podman.stop()]);
  });

  test('shows a line for each, and with settings that cannot be used only what is wrong with them', async () => {
    const env = { ...cards, TUNEPLANE_LISTEN: 'nowhere', DOCKER_HOST: engine.dockerHost };
    const { code, stdout } = await runCommand(['doctor'], { env });
    expect(code).toBe(2);
    expect(stdout).toMatch(/^error {4}settings {2}TUNEPLANE_LISTEN is "nowhere": expected .*\n +-> .*\n\n1 wrong\n$/);
    const better = { ...env, TUNEPLANE_STATE_DIR: join(folder, 'state') };
    const flags = ['--listen', `127.0.0.1:${await freePort()}`, '--local-gpu-count=8'];
    const good = await runCommand(['doctor', ...flags], { env: better });
    expect(good.stdout).toMatch(/^ok {7}nvidia-smi {8}8 cards in \d+ ms, driver /m);
    expect(good.stdout).toMatch(/^ok {7}card-count {8}8 cards, as configured$/m);
  });
});

/** An image that asks for every card by its environment, as those on a CUDA base do. */
async function greedyImage({ docker, image }: Engine): Promise<void> {
  const container = await docker.createContainer({ Image: image, Cmd: ['true'] });
  await container.commit({ repo: 'greedy', tag: 'latest', changes: 'ENV NVIDIA_VISIBLE_DEVICES=all' });
  await container.remove();
}
