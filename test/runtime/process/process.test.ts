import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { LABEL } from '../../../src/model/labels.js';
import { openProcessRuntime } from '../../../src/runtime/process/open.js';
import { systemClock } from '../../../src/time/system-clock.js';
import { grantOf, job, plainRequest, uuidOf } from '../../support/jobs.js';
import {
  becomes,
  claimOf,
  createJob,
  describeJob,
  endJob,
  newClaimsFolder,
  processRuntime,
  startJob,
} from '../../support/process-jobs.js';

describe('a job', () => {
  test('leaves its output and its exit code beside its claim', async () => {
    const folder = newClaimsFolder();
    const runtime = await processRuntime(folder);
    const id = await startJob(runtime, 'train', ['sh', '-c', 'echo to out; echo to err >&2; exit 7']);
    await becomes(runtime, id, 'exited');
    expect(await describeJob(runtime, id)).toMatchObject({
      value: { exitCode: 7, error: null, startedAt: expect.any(String), finishedAt: expect.any(String) },
    });
    expect(readFileSync(`${claimOf(folder, id).prefix}.output`, 'utf8')).toBe('to out\nto err\n');
  });

  test('that a signal ends has the exit code that a shell gives it', async () => {
    const folder = newClaimsFolder();
    const runtime = await processRuntime(folder);
    const id = await startJob(runtime, 'train', ['sleep', '1000']);
    await endJob(folder, id);
    await becomes(runtime, id, 'exited');
    expect(await describeJob(runtime, id)).toMatchObject({ value: { exitCode: 143 } });
  });

  test('sees its cards by uuid, in the order of the bus, and nothing of what the gate keeps for itself', async () => {
    const folder = newClaimsFolder();
    const environment = { PATH: '/usr/bin:/bin', TUNEPLANE_REDIS_URL: 'redis://:secret@host', AWS_SECRET: 'secret' };
    const runtime = await processRuntime(folder, { environment });
    const id = await startJob(runtime, 'train', ['env'], [2, 5]);
    await becomes(runtime, id, 'exited');
    const env = readFileSync(`${claimOf(folder, id).prefix}.output`, 'utf8').split('\n');
    expect(env).toContain(`CUDA_VISIBLE_DEVICES=${uuidOf(2)},${uuidOf(5)}`);
    expect(env).toEqual(expect.arrayContaining(['CUDA_DEVICE_ORDER=PCI_BUS_ID', 'EPOCHS=3', 'TUNEPLANE_RUN_ID=train']));
    expect(env.join('\n')).not.toContain('secret');
  });

  test('is handed no open file but its output', async () => {
    const folder = newClaimsFolder();
    const runtime = await processRuntime(folder);
    const script = 'for fd in 3 4 5; do [ -e /proc/$$/fd/$fd ] && echo "has $fd"; done; readlink /proc/$$/fd/0; exit 0';
    const id = await startJob(runtime, 'train', ['sh', '-c', script]);
    await becomes(runtime, id, 'exited');
    expect(readFileSync(`${claimOf(folder, id).prefix}.output`, 'utf8')).toBe('/dev/null\n');
  });

  test('of no cards sees none', async () => {
    const folder = newClaimsFolder();
    const runtime = await processRuntime(folder);
    const id = await startJob(runtime, 'train', ['sh', '-c', 'echo "[${CUDA_VISIBLE_DEVICES-unset}]"'], []);
    await becomes(runtime, id, 'exited');
    expect(readFileSync(`${claimOf(folder, id).prefix}.output`, 'utf8')).toBe('[]\n');
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
    const output = readFileSync(`${claimOf(folder, id).prefix}.output`, 'utf8');
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

describe('the folder of claims', () => {
  test('with a claim that cannot be read is blind, and never without that claim', async () => {
    const folder = newClaimsFolder();
    const id = await createJob(await processRuntime(folder), 'train', ['true']);
    const file = `${claimOf(folder, id).prefix}.created`;
    writeFileSync(file, '{"version":1');
    const list = await (await processRuntime(folder)).books.list();
    expect(list).toMatchObject({ kind: 'blind', why: 'unavailable', detail: expect.stringContaining(file) });
  });

  test('that is gone is blind, and nothing is created in it', async () => {
    const folder = newClaimsFolder();
    const runtime = await processRuntime(folder);
    rmSync(folder, { recursive: true });
    expect(await runtime.books.list()).toMatchObject({ kind: 'blind' });
    const spec = job('train', plainRequest('', { command: ['true'] }), 1);
    expect(await runtime.hands.create(spec, grantOf(0))).toMatchObject({ kind: 'failed' });
    expect(await runtime.hands.start('a'.repeat(32))).toMatchObject({ kind: 'in_doubt' });
    expect(await runtime.hands.remove('a'.repeat(32), 'ended')).toMatchObject({ kind: 'in_doubt' });
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
    await createJob(runtime, 'train', ['true']);
    expect(readdirSync(folder)).toEqual(['tuneplane-train']);
    const list = await runtime.books.list();
    expect(list).toMatchObject({ value: { containers: [{ labels: { [LABEL.runId]: 'train' } }] } });
  });
});
