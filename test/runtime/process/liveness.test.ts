import { readdirSync, readFileSync, renameSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { kernelName, liveProcess } from '../../../src/runtime/process/kernel.js';
import {
  becomes,
  claimOf,
  createJob,
  describeJob,
  endJob,
  newClaimsFolder,
  processRuntime,
  startJob,
  stateOf,
} from '../../support/process-jobs.js';

const BOOT = 'b'.repeat(32);

describe('whether a job lives is asked of the kernel', () => {
  test('a claim of another boot is dead, holds nothing and can be removed', async () => {
    const folder = newClaimsFolder();
    const before = await processRuntime(folder, { kernel: `${BOOT}-1` });
    // The launcher looks for its pid under the name of the kernel that it was started with.
    const id = await startJob(before, 'train', ['sleep', '1000'], [3]);
    const after = await processRuntime(folder);
    expect(await stateOf(before, id)).toBe('running');
    expect(await stateOf(after, id)).toBe('dead');
    expect(await describeJob(after, id)).toMatchObject({
      value: { exitCode: null, error: expect.stringContaining('the machine') },
    });
    await endJob(folder, id);
    expect(await after.hands.remove(id, 'ended')).toEqual({ kind: 'removed' });
    expect(readdirSync(folder)).toEqual([]);
  });

  test('a pid that went to another process is not the job', async () => {
    const folder = newClaimsFolder();
    const runtime = await processRuntime(folder);
    const id = await createJob(runtime, 'train', ['true']);
    const kernel = await kernelName();
    const { prefix } = claimOf(folder, id);
    renameSync(`${prefix}.created`, `${prefix}.run.${kernel}.${process.pid}.1`);
    expect(await stateOf(runtime, id)).toBe('dead');
    const own = liveProcess(process.pid);
    renameSync(`${prefix}.run.${kernel}.${process.pid}.1`, `${prefix}.run.${kernel}.${process.pid}.${own?.startTicks}`);
    expect(await stateOf(await processRuntime(folder), id)).toBe('running');
  });

  test.each([
    ['in its session', 'sleep 1000 & echo $!; wait'],
    ['in a session of its own', 'setsid sleep 1000 & echo $!; wait'],
  ])('a worker that outlives everybody else %s holds the cards', async (_says, script) => {
    const folder = newClaimsFolder();
    const runtime = await processRuntime(folder);
    const id = await startJob(runtime, 'train', ['sh', '-c', script]);
    const { prefix, standing } = claimOf(folder, id);
    const worker = await vi.waitFor(() => {
      const pid = Number(readFileSync(`${prefix}.output`, 'utf8'));
      expect(pid).toBeGreaterThan(1);
      return pid;
    });
    const launcher = standing.kind === 'run' ? standing.pid : 0;
    const main = (await childrenOf(launcher))[0] ?? 0;
    process.kill(launcher, 'SIGKILL');
    process.kill(main, 'SIGKILL');
    await vi.waitFor(() => expect(liveProcess(launcher)).toBeNull());
    expect(await stateOf(runtime, id)).toBe('running');
    expect(await runtime.hands.remove(id, 'ended')).toEqual({ kind: 'left', state: 'running' });
    process.kill(worker, 'SIGKILL');
    await becomes(runtime, id, 'dead');
  });
});

async function childrenOf(pid: number): Promise<readonly number[]> {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
}
