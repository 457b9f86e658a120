import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { LABEL } from '../../../src/model/labels.js';
import { claimsFolder } from '../../../src/runtime/process/claims-folder.js';
import { kernelName, liveProcess } from '../../../src/runtime/process/kernel.js';
import { startLauncher } from '../../../src/runtime/process/launcher.js';
import { openProcessRuntime, type ProcessRuntime } from '../../../src/runtime/process/open.js';
import { systemClock } from '../../../src/time/system-clock.js';
import { grantOf, job, plainRequest, uuidOf } from '../../support/jobs.js';
import { claimsIn, endJob, newClaimsFolder, processRuntime, type FoundClaim } from '../../support/process-jobs.js';

type Runtime = Extract<ProcessRuntime, { kind: 'open' }>;

const BOOT = 'b'.repeat(32);

async function create(runtime: Runtime, runId: string, command: readonly string[], cards: readonly number[] = [0]) {
  const spec = job(runId, plainRequest('', { command, env: { EPOCHS: '3' } }), cards.length);
  const answer = await runtime.hands.create(spec, grantOf(...cards));
  if (answer.kind !== 'created') throw new Error(`expected "created", got ${JSON.stringify(answer)}`);
  return answer.id;
}

async function run(runtime: Runtime, runId: string, command: readonly string[], cards: readonly number[] = [0]) {
  const id = await create(runtime, runId, command, cards);
  expect(await runtime.hands.start(id)).toEqual({ kind: 'started' });
  return id;
}

async function stateOf(runtime: Runtime, id: string): Promise<string | null> {
  const list = await runtime.books.listRuns();
  if (list.kind === 'blind') return `blind: ${list.detail}`;
  return list.value.containers.find((one) => one.id === id)?.state ?? null;
}

const becomes = (runtime: Runtime, id: string, state: string | null) =>
  vi.waitFor(async () => expect(await stateOf(runtime, id)).toBe(state), { timeout: 10_000, interval: 20 });

function claim(folder: string, id: string): FoundClaim {
  const found = claimsIn(folder).find((one) => one.id === id);
  if (found === undefined) throw new Error(`there is no claim ${id}`);
  return found;
}

const describeRun = async (runtime: Runtime, id: string) => {
  const seen = await runtime.books.listRuns();
  const container = seen.kind === 'seen' ? seen.value.containers.find((one) => one.id === id) : undefined;
  if (container === undefined) throw new Error(`${id} is not listed`);
  return runtime.books.describe(container);
};

describe('a job', () => {
  test('leaves its output and its exit code beside its claim', async () => {
    const folder = newClaimsFolder();
    const runtime = await processRuntime(folder);
    const id = await run(runtime, 'train', ['sh', '-c', 'echo to out; echo to err >&2; exit 7']);
    await becomes(runtime, id, 'exited');
    expect(await describeRun(runtime, id)).toMatchObject({
      value: { exitCode: 7, error: null, startedAt: expect.any(String), finishedAt: expect.any(String) },
    });
    expect(readFileSync(`${claim(folder, id).prefix}.output`, 'utf8')).toBe('to out\nto err\n');
  });

  test('that a signal ends has the exit code that a shell gives it', async () => {
    const folder = newClaimsFolder();
    const runtime = await processRuntime(folder);
    const id = await run(runtime, 'train', ['sleep', '1000']);
    await endJob(folder, id);
    await becomes(runtime, id, 'exited');
    expect(await describeRun(runtime, id)).toMatchObject({ value: { exitCode: 143 } });
  });

  test('sees its cards by uuid, in the order of the bus, and nothing of what the gate keeps for itself', async () => {
    const folder = newClaimsFolder();
    const environment = { PATH: '/usr/bin:/bin', TUNEPLANE_REDIS_URL: 'redis://:secret@host', AWS_SECRET: 'secret' };
    const runtime = await processRuntime(folder, { environment });
    const id = await run(runtime, 'train', ['env'], [2, 5]);
    await becomes(runtime, id, 'exited');
    const env = readFileSync(`${claim(folder, id).prefix}.output`, 'utf8').split('\n');
    expect(env).toContain(`CUDA_VISIBLE_DEVICES=${uuidOf(2)},${uuidOf(5)}`);
    expect(env).toEqual(expect.arrayContaining(['CUDA_DEVICE_ORDER=PCI_BUS_ID', 'EPOCHS=3', 'TUNEPLANE_RUN_ID=train']));
    expect(env.join('\n')).not.toContain('secret');
  });

  test('of no cards sees none', async () => {
    const folder = newClaimsFolder();
    const runtime = await processRuntime(folder);
    const id = await run(runtime, 'train', ['sh', '-c', 'echo "[${CUDA_VISIBLE_DEVICES-unset}]"'], []);
    await becomes(runtime, id, 'exited');
    expect(readFileSync(`${claim(folder, id).prefix}.output`, 'utf8')).toBe('[]\n');
  });

  test('may have any variable that the launcher could have used itself', async () => {
    const folder = newClaimsFolder();
    const runtime = await processRuntime(folder);
    const env = { id: 'mine', job: 'mine', prefix: 'mine', ENV: '/nowhere' };
    const spec = job('train', plainRequest('', { command: ['env'], env }), 0);
    const made = await runtime.hands.create(spec, grantOf());
    const id = made.kind === 'created' ? made.id : '';
    await runtime.hands.start(id);
    await becomes(runtime, id, 'exited');
    const output = readFileSync(`${claim(folder, id).prefix}.output`, 'utf8');
    for (const [name, value] of Object.entries(env)) expect(output).toContain(`${name}=${value}\n`);
  });

  test.each([
    ['a program that is not there', ['no-such-program'], /"no-such-program": expected a program on the PATH/],
    ['a word of the shell', ['exit', '3'], /"exit": expected a program on the PATH/],
    ['a path that may not be run', ['/etc/passwd'], /\/etc\/passwd: expected a program that is there/],
    ['nothing', [], /"": expected a program/],
  ])('is refused before it claims anything when its command is %s', async (_says, command, words) => {
    const folder = newClaimsFolder();
    const runtime = await processRuntime(folder);
    const answer = await runtime.hands.create(job('train', plainRequest('', { command }), 1), grantOf(0));
    expect(answer).toMatchObject({ kind: 'refused', daemonMessage: expect.stringMatching(words) });
    expect(readdirSync(folder)).toEqual([]);
  });

  test('is refused when its working folder is not there', async () => {
    const runtime = await processRuntime(newClaimsFolder());
    const request = plainRequest('', { command: ['true'], workingDir: '/nowhere' });
    expect(await runtime.hands.create(job('train', request, 1), grantOf(0))).toMatchObject({
      kind: 'refused',
      daemonMessage: 'working_dir /nowhere: expected a folder that is there',
    });
  });
});

describe('whether a job lives is asked of the kernel', () => {
  test('a claim of another boot is dead, holds nothing and can be removed', async () => {
    const folder = newClaimsFolder();
    const before = await processRuntime(folder, { kernel: `${BOOT}-1` });
    // The launcher looks for its pid under the name of the kernel that it was started with.
    const id = await run(before, 'train', ['sleep', '1000'], [3]);
    const after = await processRuntime(folder);
    expect(await stateOf(before, id)).toBe('running');
    expect(await stateOf(after, id)).toBe('dead');
    expect(await describeRun(after, id)).toMatchObject({
      value: { exitCode: null, error: 'it was killed together with its launcher, or the machine restarted' },
    });
    await endJob(folder, id);
    expect(await after.hands.remove(id, 'created')).toEqual({ kind: 'removed' });
    expect(readdirSync(folder)).toEqual([]);
  });

  test('a claim of another pid namespace of this boot is held, since its numbers say nothing here', async () => {
    const folder = newClaimsFolder();
    const runtime = await processRuntime(folder);
    const id = await run(runtime, 'train', ['true']);
    await becomes(runtime, id, 'exited');
    const elsewhere = await processRuntime(folder, { kernel: (await kernelName()).replace(/\d+$/, '1') });
    expect(await stateOf(elsewhere, id)).toBe('running');
    expect(await elsewhere.hands.remove(id, 'created')).toMatchObject({ kind: 'running' });
  });

  test('a pid that went to another process is not the job', async () => {
    const folder = newClaimsFolder();
    const runtime = await processRuntime(folder);
    const id = await create(runtime, 'train', ['true']);
    const kernel = await kernelName();
    const { prefix } = claim(folder, id);
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
    const id = await run(runtime, 'train', ['sh', '-c', script]);
    const { prefix, standing } = claim(folder, id);
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
    expect(await runtime.hands.remove(id, 'created')).toMatchObject({ kind: 'running' });
    process.kill(worker, 'SIGKILL');
    await becomes(runtime, id, 'dead');
  });
});

describe('between gates that share the folder', () => {
  test('a claim that both start runs once', async () => {
    const folder = newClaimsFolder();
    const [one, other] = [await processRuntime(folder), await processRuntime(folder)];
    for (let round = 0; round < 6; round++) {
      const id = await create(one, `train-${round}`, ['sh', '-c', 'echo ran']);
      const answers = await Promise.all([one.hands.start(id), other.hands.start(id), one.hands.start(id)]);
      expect(answers.map(({ kind }) => kind)).toEqual(['started', 'started', 'started']);
      await becomes(other, id, 'exited');
      expect(readFileSync(`${claim(folder, id).prefix}.output`, 'utf8')).toBe('ran\n');
    }
  });

  test('of a start and a removal at once one wins, and what was removed never ran', async () => {
    const folder = newClaimsFolder();
    const proof = newClaimsFolder();
    const [one, other] = [await processRuntime(folder), await processRuntime(folder)];
    const kinds = new Set<string>();
    for (let round = 0; round < 20; round++) {
      const id = await create(one, `train-${round}`, ['sh', '-c', `echo ran > ${proof}/${round}`]);
      // So that both know where it is.
      expect(await stateOf(other, id)).toBe('created');
      const start = () => one.hands.start(id);
      const remove = () => other.hands.remove(id, 'created');
      const [started, removed] =
        round % 2 === 0
          ? await Promise.all([start(), remove()])
          : await Promise.all([remove(), start()]).then(([removal, begun]) => [begun, removal] as const);
      kinds.add(`${started.kind} ${removed.kind}`);
      if (started.kind === 'started') await vi.waitFor(() => expect(existsSync(`${proof}/${round}`)).toBe(true));
      else expect(await stateOf(one, id)).toBeNull();
      if (started.kind === 'gone') expect(existsSync(`${proof}/${round}`)).toBe(false);
    }
    // A job that had ended by the time of its removal is removed rightly.
    expect([...kinds].filter((kind) => !/^(gone removed|started running|started removed)$/.test(kind))).toEqual([]);
    expect(kinds).toContain('gone removed');
  });

  test('what one created the other starts, with all that was asked', async () => {
    const folder = newClaimsFolder();
    const [one, other] = [await processRuntime(folder), await processRuntime(folder)];
    const id = await create(one, 'train', ['sh', '-c', 'echo $EPOCHS']);
    expect(await other.hands.start(id)).toEqual({ kind: 'started' });
    await becomes(one, id, 'exited');
    expect(readFileSync(`${claim(folder, id).prefix}.output`, 'utf8')).toBe('3\n');
  });

  test('a removal that is slow takes nothing of a new claim of the same name', async () => {
    const folder = newClaimsFolder();
    const runtime = await processRuntime(folder);
    const claims = claimsFolder(folder);
    const old = await create(runtime, 'train', ['true']);
    const entry = await claims.byId(old);
    if (entry === null) throw new Error('expected the claim');
    await claims.move(entry, { kind: 'removing' });
    const removing = { ...entry, standing: { kind: 'removing' } } as const;
    await claims.clear(removing);
    const next = await create(runtime, 'train', ['true']);
    await claims.clear(removing);
    expect(await stateOf(runtime, next)).toBe('created');
  });
});

describe('when a gate dies', () => {
  test('before the launcher stands in the claim, nothing runs and the claim is still to be had', async () => {
    const folder = newClaimsFolder();
    const proof = newClaimsFolder();
    const runtime = await processRuntime(folder);
    const id = await create(runtime, 'train', ['sh', '-c', `echo ran >> ${proof}/ran`]);
    const entry = await claimsFolder(folder).byId(id);
    const launcher = await startLauncher(entry!.claim, entry!.prefix, await kernelName());
    if (launcher.kind === 'failed') throw new Error(launcher.words);
    // What the kernel does for a gate that dies.
    launcher.letGo();
    await vi.waitFor(() => expect(liveProcess(launcher.pid)).toBeNull());
    expect(existsSync(`${proof}/ran`)).toBe(false);
    expect(await stateOf(runtime, id)).toBe('created');
    await runtime.hands.start(id);
    await becomes(runtime, id, 'exited');
    expect(readFileSync(`${proof}/ran`, 'utf8')).toBe('ran\n');
  });

  test('right after, the job runs', async () => {
    const folder = newClaimsFolder();
    const runtime = await processRuntime(folder);
    const id = await create(runtime, 'train', ['sh', '-c', 'exit 5']);
    const claims = claimsFolder(folder);
    const entry = await claims.byId(id);
    const kernel = await kernelName();
    const launcher = await startLauncher(entry!.claim, entry!.prefix, kernel);
    if (launcher.kind === 'failed') throw new Error(launcher.words);
    const { pid, startTicks } = launcher;
    expect(await claims.move(entry!, { kind: 'run', kernel, pid, startTicks })).toBe(true);
    expect(await stateOf(runtime, id)).toBe('running');
    launcher.letGo();
    await becomes(runtime, id, 'exited');
    expect(await describeRun(runtime, id)).toMatchObject({ value: { exitCode: 5 } });
  });

  test('in the middle of a create, no list shows it and its name is free', async () => {
    const folder = newClaimsFolder();
    mkdirSync(join(folder, '.new-0123'));
    writeFileSync(join(folder, '.new-0123', `${'a'.repeat(32)}.created`), 'half');
    mkdirSync(join(folder, 'tuneplane-train'));
    const runtime = await processRuntime(folder);
    expect(await runtime.books.listRuns()).toMatchObject({ kind: 'seen', value: { containers: [] } });
    expect(await create(runtime, 'train', ['true'])).toMatch(/^[0-9a-f]{32}$/);
  });

  test('in the middle of a removal, the next list ends it', async () => {
    const folder = newClaimsFolder();
    const runtime = await processRuntime(folder);
    const id = await create(runtime, 'train', ['true']);
    const { prefix } = claim(folder, id);
    renameSync(`${prefix}.created`, `${prefix}.removing`);
    writeFileSync(`${prefix}.output`, 'some');
    expect(await stateOf(runtime, id)).toBeNull();
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('the folder of claims', () => {
  test('with a claim that cannot be read is blind, and never without that claim', async () => {
    const folder = newClaimsFolder();
    const id = await create(await processRuntime(folder), 'train', ['true']);
    const file = `${claim(folder, id).prefix}.created`;
    writeFileSync(file, '{"version":1');
    const list = await (await processRuntime(folder)).books.listRuns();
    expect(list).toMatchObject({ kind: 'blind', why: 'unavailable', detail: expect.stringContaining(file) });
  });

  test('that is gone is blind, and nothing is created in it', async () => {
    const folder = newClaimsFolder();
    const runtime = await processRuntime(folder);
    rmSync(folder, { recursive: true });
    expect(await runtime.books.listRuns()).toMatchObject({ kind: 'blind' });
    const spec = job('train', plainRequest('', { command: ['true'] }), 1);
    expect(await runtime.hands.create(spec, grantOf(0))).toMatchObject({ kind: 'failed' });
    expect(await runtime.hands.start('a'.repeat(32))).toMatchObject({ kind: 'in_doubt' });
    expect(await runtime.hands.remove('a'.repeat(32), 'created')).toMatchObject({ kind: 'in_doubt' });
  });

  test('that others can write is refused, since they could have commands run', async () => {
    const folder = newClaimsFolder();
    chmodSync(folder, 0o777);
    expect(await openProcessRuntime({ folder, clock: systemClock, environment: {} })).toMatchObject({
      kind: 'refused',
      detail: expect.stringMatching(/found mode 777, owner \d+; expected mode 700/),
    });
  });

  test('is made for its owner alone, and its claims too: they hold what jobs are told', async () => {
    const folder = join(newClaimsFolder(), 'claims');
    const runtime = await processRuntime(folder);
    await create(runtime, 'train', ['true']);
    expect(readdirSync(folder)).toEqual(['tuneplane-train']);
    const list = await runtime.books.listRuns();
    expect(list).toMatchObject({ value: { containers: [{ labels: { [LABEL.runId]: 'train' } }] } });
  });
});

async function childrenOf(pid: number): Promise<readonly number[]> {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
}
