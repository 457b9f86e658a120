import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { claimsFolder, type ClaimsFolder } from '../../../src/runtime/process/claims-folder.js';
import { kernelName, liveProcess } from '../../../src/runtime/process/kernel.js';
import { startLauncher } from '../../../src/runtime/process/launcher.js';
import { createLiveness } from '../../../src/runtime/process/liveness.js';
import { remove } from '../../../src/runtime/process/removal.js';
import {
  becomes,
  claimOf,
  createJob,
  describeJob,
  newClaimsFolder,
  processRuntime,
  startJob,
  stateOf,
} from '../../support/process-jobs.js';

describe('between gates that share the folder', () => {
  test('a claim is started by its creator alone, and runs once however often and by whom it is started', async () => {
    const folder = newClaimsFolder();
    const [one, other] = [await processRuntime(folder), await processRuntime(folder)];
    for (let round = 0; round < 3; round++) {
      const id = await createJob(one, `train-${round}`, ['sh', '-c', 'echo ran']);
      expect(await other.hands.start(id)).toMatchObject({ kind: 'gone', daemonMessage: expect.stringContaining(id) });
      expect(await stateOf(other, id)).toBe('created');
      const answers = await Promise.all([one.hands.start(id), one.hands.start(id), one.hands.start(id)]);
      expect(answers.map(({ kind }) => kind)).toEqual(['started', 'started', 'started']);
      await becomes(other, id, 'exited');
      for (const { hands } of [one, other]) expect(await hands.start(id)).toEqual({ kind: 'started' });
      expect(await stateOf(one, id)).toBe('exited');
      expect(readFileSync(`${claimOf(folder, id).prefix}.output`, 'utf8')).toBe('ran\n');
    }
  });

  test('what was killed together with its launcher is not run again by a start', async () => {
    const folder = newClaimsFolder();
    const runtime = await processRuntime(folder);
    const id = await startJob(runtime, 'train', ['sh', '-c', 'echo ran; kill -9 $PPID $$']);
    await becomes(runtime, id, 'dead');
    const before = claimOf(folder, id);
    expect(await runtime.hands.start(id)).toEqual({ kind: 'started' });
    expect(claimOf(folder, id)).toEqual(before);
    expect(await stateOf(runtime, id)).toBe('dead');
    expect(readFileSync(`${before.prefix}.output`, 'utf8')).toBe('ran\n');
  });

  test('a removal looks again at what was started behind its look, and leaves it', async () => {
    const folder = newClaimsFolder();
    const runtime = await processRuntime(folder);
    const claims = claimsFolder(folder);
    const liveness = createLiveness(await kernelName());
    for (const [script, state] of [
      ['sleep 1000', 'running'],
      ['true', 'exited'],
    ] as const) {
      const id = await createJob(runtime, state, ['sh', '-c', script]);
      let looks = 0;
      const startedBehind: ClaimsFolder = {
        ...claims,
        async move(entry, to) {
          if (looks++ === 0) {
            await runtime.hands.start(id);
            await becomes(runtime, id, state);
          }
          return claims.move(entry, to);
        },
      };
      expect(await remove(id, 'created', { claims: startedBehind, liveness })).toEqual({ kind: 'left', state });
      expect(await stateOf(runtime, id)).toBe(state);
      expect(await runtime.hands.start(id)).toEqual({ kind: 'started' });
    }
  });

  test('of a start and a removal at once one wins, and what was removed never ran', async () => {
    const folder = newClaimsFolder();
    const proof = newClaimsFolder();
    const [one, other] = [await processRuntime(folder), await processRuntime(folder)];
    const kinds = new Set<string>();
    for (let round = 0; round < 10; round++) {
      const id = await createJob(one, `train-${round}`, ['sh', '-c', `echo ran > ${proof}/${round}`]);
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
    expect([...kinds].filter((kind) => !/^(gone removed|started left)$/.test(kind))).toEqual([]);
    expect(kinds).toContain('gone removed');
  });

  test('a removal that is slow takes nothing of a new claim of the same name', async () => {
    const folder = newClaimsFolder();
    const runtime = await processRuntime(folder);
    const claims = claimsFolder(folder);
    const old = await createJob(runtime, 'train', ['true']);
    const entry = await claims.byId(old);
    if (entry === null) throw new Error('expected the claim');
    await claims.move(entry, { kind: 'removing' });
    const removing = { ...entry, standing: { kind: 'removing' } } as const;
    await claims.clear(removing);
    const next = await createJob(runtime, 'train', ['true']);
    await claims.clear(removing);
    expect(await stateOf(runtime, next)).toBe('created');
  });
});

describe('when a gate dies', () => {
  test('before the launcher stands in the claim, nothing runs and the claim is still to be had', async () => {
    const folder = newClaimsFolder();
    const proof = newClaimsFolder();
    const runtime = await processRuntime(folder);
    const id = await createJob(runtime, 'train', ['sh', '-c', `echo ran >> ${proof}/ran`]);
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
    const id = await createJob(runtime, 'train', ['sh', '-c', 'exit 5']);
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
    expect(await describeJob(runtime, id)).toMatchObject({ value: { exitCode: 5 } });
  });

  test('in the middle of a create, no list shows it and its name is free', async () => {
    const folder = newClaimsFolder();
    mkdirSync(join(folder, '.new-0123'));
    writeFileSync(join(folder, '.new-0123', `${'a'.repeat(32)}.created`), 'half');
    mkdirSync(join(folder, 'tuneplane-train'));
    const runtime = await processRuntime(folder);
    expect(await runtime.books.list()).toMatchObject({ kind: 'seen', value: { containers: [] } });
    expect(await createJob(runtime, 'train', ['true'])).toMatch(/^[0-9a-f]{32}$/);
  });

  test('in the middle of a removal, the next list ends it', async () => {
    const folder = newClaimsFolder();
    const runtime = await processRuntime(folder);
    const id = await createJob(runtime, 'train', ['true']);
    const { prefix } = claimOf(folder, id);
    renameSync(`${prefix}.created`, `${prefix}.removing`);
    writeFileSync(`${prefix}.output`, 'some');
    expect(await stateOf(runtime, id)).toBeNull();
    expect(readdirSync(folder)).toEqual([]);
  });
});
