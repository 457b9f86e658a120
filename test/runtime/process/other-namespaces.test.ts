import { closeSync, existsSync, openSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { kernelName, liveProcess } from '../../../src/runtime/process/kernel.js';
import { judge } from '../../../src/runtime/process/other-namespaces.js';
import { lookBelow, type ProcessBelow } from '../../../src/runtime/process/processes-below.js';
import {
  becomes,
  claimOf,
  createJob,
  describeJob,
  newClaimsFolder,
  processRuntime,
  seenAs,
  startJob,
  stateOf,
} from '../../support/process-jobs.js';
import { runtimeInNamespace } from '../../support/runtime-in-namespace.js';

const INITIAL = '4026531836';

describe('of a job of the namespace 100, launcher 20, it is said', () => {
  const run = { kind: 'run', kernel: `${'b'.repeat(32)}-100`, pid: 20, startTicks: '5' } as const;
  const inside = (
    namespace: string | null,
    pids: readonly number[],
    sessions: readonly number[],
    startTicks = '9',
  ): ProcessBelow => ({
    pid: pids[0] ?? 0,
    startTicks,
    namespace,
    pids,
    sessions,
  });
  const init = inside('100', [900, 1], [900, 1]);
  const worker = inside('100', [901, 21], [900, 20]);
  const denied = inside(null, [902, 7], [902, 7]);
  const deniedInSession = inside(null, [902, 7], [900, 20]);
  const further = inside('200', [903, 30, 2], [900, 20, 0]);

  test.each<[string, readonly ProcessBelow[], boolean, string, string]>([
    ['that it has ended with its namespace, from where all is seen', [], true, INITIAL, 'ended'],
    ['nothing, from where only what lies below is seen', [], true, '50', 'out_of_reach'],
    ['nothing, where /proc hides somebody', [], false, INITIAL, 'out_of_reach'],
    ['that it has ended, where its namespace lives on or another has its number', [init], true, '50', 'ended'],
    ['nothing, where that is so and /proc hides somebody', [init], false, '50', 'out_of_reach'],
    ['that it lives, while anything of its session does', [init, worker], true, '50', 'lives'],
    [
      'that it has ended, when the number of its session has gone to another process',
      [init, worker, inside('100', [904, 20], [904, 20])],
      true,
      '50',
      'ended',
    ],
    ['that it has ended, when only our own numbers are alike', [inside('100', [20, 5], [20, 5])], true, '50', 'ended'],
    ['nothing, beside a process that may not be asked for', [denied], true, '50', 'out_of_reach'],
    ['that it has ended, beside one, from where all is seen', [denied], true, INITIAL, 'ended'],
    ['nothing, when that one may be of its session', [deniedInSession], true, INITIAL, 'out_of_reach'],
    ['nothing, when one further down may be of its session', [init, further], true, INITIAL, 'out_of_reach'],
    ['that it has ended, when that one is below another', [further], true, INITIAL, 'ended'],
  ])('%s', (_says, below, whole, own, life) => {
    expect(judge(run, { below, whole }, own)).toEqual({ life, launcher: null });
  });

  test.each<[string, ProcessBelow, 'lives' | 'ended', number | null]>([
    ['that it lives, while its launcher does', inside('100', [920, 20], [920, 20], '5'), 'lives', 920],
    ['that it lives, while one does that may be it', inside(null, [920, 20], [920, 20], '5'), 'lives', 920],
    ['that it has ended, when its pid went to another', inside('100', [920, 20], [920, 20], '6'), 'ended', null],
    ['that it has ended, when one like it is in another', inside('200', [920, 20], [920, 20], '5'), 'ended', null],
    ['that it has ended, when one is so called here', inside('100', [20, 5], [20, 5], '5'), 'ended', null],
  ])('%s', (_says, process, life, launcher) => {
    expect(judge(run, { below: [init, process], whole: true }, INITIAL)).toEqual({ life, launcher });
  });
});

/** The runtime on this folder as a gate has it that sees every process of the machine: wherever the tests run, they make no other. */
const seeingAll = async (folder: string) => processRuntime(folder, { kernel: await kernelIn(INITIAL) });
/** The same as a gate has it that sees what lies below its own namespace. */
const seeingBelow = async (folder: string) => processRuntime(folder, { kernel: await kernelIn('1') });
const kernelIn = async (namespace: string) => (await kernelName()).replace(/\d+$/, namespace);

const isIn =
  (namespace: string) =>
  (one: ProcessBelow): boolean =>
    one.namespace === namespace;

function launcherOf(folder: string, id: string, namespace: string): ProcessBelow | undefined {
  const { standing } = claimOf(folder, id);
  const inside = lookBelow().below.filter(isIn(namespace));
  return inside.find(({ pids }) => standing.kind === 'run' && pids.at(-1) === standing.pid);
}

describe('a job in a pid namespace below', () => {
  test('lives, ends and is removed as any other', async () => {
    const folder = newClaimsFolder();
    const inside = await runtimeInNamespace(folder);
    const end = join(newClaimsFolder(), 'end');
    const id = await startJob(inside, 'train', ['sh', '-c', `until [ -e ${end} ]; do sleep 0.02; done; exit 5`]);
    for (const above of [await seeingAll(folder), await seeingBelow(folder)]) {
      expect(await seenAs(above, id)).toMatchObject({ state: 'running', outOfReach: false });
      expect(await above.hands.remove(id, 'ended')).toEqual({ kind: 'left', state: 'running' });
      expect(await above.hands.giveUp(id)).toMatchObject({
        kind: 'in_reach',
        why: expect.stringContaining('it lives'),
      });
    }
    writeFileSync(end, '');
    const above = await seeingBelow(folder);
    for (const runtime of [inside, above, await seeingAll(folder)]) await becomes(runtime, id, 'exited');
    expect(await describeJob(above, id)).toMatchObject({ value: { exitCode: 5, error: null } });
    expect(await above.hands.giveUp(id)).toMatchObject({ kind: 'in_reach', why: expect.stringContaining('has ended') });
    expect(await above.hands.remove(id, 'ended')).toEqual({ kind: 'removed' });
    expect(readdirSync(folder)).toEqual([]);
  });

  test.each([
    ['in its session', 'sleep 1000 & kill -9 $PPID $$'],
    ['in a session of its own', 'setsid sleep 1000 & kill -9 $PPID $$'],
  ])('that has outlived its launcher %s holds the cards, until its namespace ends', async (_says, script) => {
    const folder = newClaimsFolder();
    const inside = await runtimeInNamespace(folder);
    const id = await startJob(inside, 'train', ['sh', '-c', script]);
    await expect.poll(() => launcherOf(folder, id, inside.namespace)).toBeUndefined();
    const [all, below] = [await seeingAll(folder), await seeingBelow(folder)];
    for (const above of [all, below]) {
      expect(await seenAs(above, id)).toMatchObject({ state: 'running', outOfReach: false });
    }
    // Held open, or its number may go to a namespace of another test.
    const held = openSync(`/proc/${lookBelow().below.find(isIn(inside.namespace))?.pid}/ns/pid`, 'r');
    await inside.end();
    await becomes(all, id, 'dead');
    // From there it looks as if the namespace was never below.
    expect(await seenAs(below, id)).toMatchObject({ state: 'running', outOfReach: true });
    closeSync(held);
  });
});

describe('a job whose pid namespace is gone', () => {
  test('is over where all is seen, and how it ended is not known', async () => {
    const folder = newClaimsFolder();
    const inside = await runtimeInNamespace(folder);
    const id = await startJob(inside, 'train', ['sleep', '1000'], [2]);
    const above = await seeingAll(folder);
    expect(await stateOf(above, id)).toBe('running');
    await inside.end();
    await becomes(above, id, 'dead');
    expect(await describeJob(above, id)).toMatchObject({
      value: { exitCode: null, error: expect.stringContaining('the container that it ran in ended'), finishedAt: null },
    });
    expect(await above.hands.remove(id, 'ended')).toEqual({ kind: 'removed' });
  });

  test('is over too when another namespace has its number by now', async () => {
    const folder = newClaimsFolder();
    const [inside, other] = [await runtimeInNamespace(folder), await runtimeInNamespace(newClaimsFolder())];
    const id = await startJob(inside, 'train', ['sleep', '1000']);
    await inside.end();
    const { prefix, standing } = claimOf(folder, id);
    if (standing.kind !== 'run') throw new Error('expected a job that was started');
    const named = (namespace: string) =>
      `${prefix}.run.${standing.kernel.replace(/\d+$/, namespace)}.${standing.pid}.${standing.startTicks}`;
    renameSync(named(inside.namespace), named(other.namespace));
    for (const above of [await seeingBelow(folder), await seeingAll(folder)]) {
      await expect.poll(() => stateOf(above, id)).toBe('dead');
    }
  });

  test('holds its cards for a gate beside it, until an operator gives it up', async () => {
    const folder = newClaimsFolder();
    // Both at once, so that they have a number each.
    const [inside, beside] = await Promise.all([runtimeInNamespace(folder), runtimeInNamespace(folder)]);
    const id = await startJob(inside, 'train', ['sleep', '1000'], [2]);
    const isHeld = async () => {
      expect(await seenAs(beside, id)).toMatchObject({ state: 'running', outOfReach: true });
      expect(await beside.hands.remove(id, 'ended')).toEqual({ kind: 'left', state: 'running' });
    };
    await isHeld();
    await inside.end();
    await isHeld();
    expect(await describeJob(beside, id)).toMatchObject({
      value: { exitCode: null, error: expect.stringContaining('another pid namespace') },
    });
    expect(await beside.hands.giveUp(id)).toEqual({ kind: 'given_up' });
    expect(await beside.hands.giveUp(id)).toEqual({ kind: 'gone' });
    expect(readdirSync(folder)).toEqual([]);
  });
});

test('a job above is out of reach; one that is given up and lives leaves nothing where the next of its name is', async () => {
  const folder = newClaimsFolder();
  const above = await processRuntime(folder);
  const end = join(newClaimsFolder(), 'end');
  const script = `until [ -e ${end} ]; do sleep 0.02; done; echo done >${end}ed`;
  const old = await startJob(above, 'train', ['sh', '-c', script]);
  const { prefix, standing } = claimOf(folder, old);
  await expect.poll(() => existsSync(`${prefix}.pid`)).toBe(true);
  const below = await runtimeInNamespace(folder);
  expect(await seenAs(below, old)).toMatchObject({ state: 'running', outOfReach: true });
  expect(await below.hands.giveUp(old)).toEqual({ kind: 'given_up' });

  const next = await createJob(above, 'train', ['true']);
  writeFileSync(end, '');
  await expect.poll(() => existsSync(`${end}ed`)).toBe(true);
  await expect.poll(() => liveProcess(standing.kind === 'run' ? standing.pid : 0)).toBeNull();
  expect(readdirSync(join(folder, 'tuneplane-train'))).toEqual([`${next}.created`]);
  expect(await above.hands.remove(next, 'created')).toEqual({ kind: 'removed' });
});

test('a gate whose /proc shows another pid namespace than its own is refused', async () => {
  await expect(runtimeInNamespace(newClaimsFolder(), 'outer')).rejects.toThrow(
    /expected the \/proc of the pid namespace that this process is in, .*mount it anew/,
  );
});
