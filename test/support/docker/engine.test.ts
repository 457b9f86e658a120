import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startEngine, type Engine } from './engine.js';

describe('an engine of its own', () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await startEngine({ flags: ['--live-restore'] });
  }, 60_000);
  afterAll(() => engine.stop());

  test('runs a container with cards on the bridge network, and the hook names them to it', async () => {
    const container = await engine.docker.createContainer({
      Image: engine.image,
      Cmd: ['sleep', '1000'],
      HostConfig: {
        Init: true,
        NetworkMode: 'bridge',
        DeviceRequests: [{ Driver: 'nvidia', DeviceIDs: ['GPU-a', 'GPU-b'], Capabilities: [['gpu']] }],
      },
    });
    await container.start();
    expect((await engine.environOf(container.id))['NVIDIA_VISIBLE_DEVICES']).toBe('GPU-a,GPU-b');
  });

  test('comes back after a kill with its containers still running', async () => {
    await engine.kill();
    await expect(engine.docker.listContainers()).rejects.toThrow(/ECONNREFUSED|ENOENT/);
    await engine.restart();
    expect(await engine.docker.listContainers()).toMatchObject([{ State: 'running' }]);
  }, 60_000);
});

test('an engine that was stopped in its tracks goes on, and can still be ended', async () => {
  const engine = await startEngine();
  engine.pause();
  const asked = engine.docker.listContainers({ abortSignal: AbortSignal.timeout(200) });
  await expect(asked).rejects.toThrow(/abort/);
  engine.resume();
  expect(await engine.docker.listContainers()).toEqual([]);
  engine.pause();
  await engine.kill();
  await engine.restart();
  engine.pause();
  await engine.stop();
  expect(existsSync(engine.folder)).toBe(false);
}, 60_000);

test('an engine that was stopped leaves no folder, process or control group behind', async () => {
  const engine = await startEngine();
  const container = await engine.docker.createContainer({ Image: engine.image, Cmd: ['sleep', '1000'] });
  await container.start();
  const pid = engine.pid;
  await engine.stop();
  expect(existsSync(engine.folder)).toBe(false);
  expect(existsSync(`/proc/${pid}`)).toBe(false);
  expect(readFileSync('/proc/mounts', 'utf8')).not.toContain(engine.folder);
  const name = engine.folder.split('/').at(-1) ?? '';
  const groups = ['/sys/fs/cgroup', '/sys/fs/cgroup/memory'].filter((path) => existsSync(path));
  for (const group of groups) expect(readdirSync(group)).not.toContain(name);
}, 60_000);
