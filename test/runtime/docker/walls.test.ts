import { afterAll, beforeAll, expect, test } from 'vitest';
import { containerSpec } from '../../../src/runtime/docker/container-spec.js';
import { startEngine, type Engine } from '../../support/docker/engine.js';
import { grantOf, job, plainRequest } from '../../support/jobs.js';

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
}, 60_000);
afterAll(() => engine.stop());

/** capabilities(7): bits 27 and 31. */
const MKNOD = 1n << 27n;
const SETFCAP = 1n << 31n;

test.each([
  ['a job that is root in its container can make no device node, nor a file with capabilities', [], 0n],
  ['one that was allowed to by the policy can', ['MKNOD'], MKNOD],
])('%s', async (_says, capAdd, kept) => {
  const command = ['sh', '-c', 'busybox grep CapBnd /proc/self/status; busybox mknod /tmp/node c 1 3; echo $?'];
  const request = plainRequest(engine.image, { command, capAdd });
  const spec = containerSpec(job('root', request, 0), grantOf(), { memlock: 65_536, hidden: [] });
  const container = await engine.docker.createContainer({ ...spec, name: '', Tty: true });
  await container.start();
  await container.wait();
  const said = (await container.logs({ stdout: true, stderr: true })).toString();
  await container.remove();
  const bounding = BigInt(`0x${/CapBnd:\s*([0-9a-f]+)/.exec(said)?.[1] ?? 'f'.repeat(16)}`);
  expect(bounding & (MKNOD | SETFCAP)).toBe(kept);
  expect(said.trimEnd().endsWith(kept === 0n ? '1' : '0'), said).toBe(true);
});
