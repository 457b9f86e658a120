import { afterEach, describe, expect, test } from 'vitest';
import type { SeenContainer } from '../../../src/model/snapshot.js';
import { grantOf, job, plainRequest } from '../../support/jobs.js';
import { newClaimsFolder, processRuntime } from '../../support/process-jobs.js';

/** Jobs as plain processes are told to end, and read, as containers are. */

const open = async () => {
  const { books, hands } = await processRuntime(newClaimsFolder());
  const start = async (runId: string, script: string): Promise<SeenContainer> => {
    const created = await hands.create(
      job(runId, plainRequest('', { command: ['/bin/sh', '-c', script] })),
      grantOf(0),
    );
    if (created.kind !== 'created') throw new Error(JSON.stringify(created));
    expect(await hands.start(created.id)).toEqual({ kind: 'started' });
    return seen(created.id);
  };
  const seen = async (id: string): Promise<SeenContainer> => {
    const listed = await books.listRuns();
    const found = listed.kind === 'seen' ? listed.value.containers.find((one) => one.id === id) : undefined;
    if (found === undefined) throw new Error(`there is no ${id}`);
    return found;
  };
  const over = new AbortController();
  opened.push(over);
  const read = async (run: SeenContainer, wanted: { follow?: boolean; tail?: number } = {}): Promise<string> => {
    const answer = await books.output(run, { follow: false, tail: null, stderr: true, ...wanted }, over.signal);
    if (answer.kind !== 'stream') return answer.kind;
    let text = '';
    for await (const piece of answer.stream) text += Buffer.from(piece).toString();
    return text;
  };
  return { hands, start, seen, read, over };
};

const opened: AbortController[] = [];
afterEach(() => opened.splice(0).forEach((each) => each.abort()));

describe('a stop', () => {
  test('lets a job end in its own way, and its exit code is kept', async () => {
    const { hands, start, seen, read } = await open();
    const run = await start('polite', 'trap "echo bye; exit 7" TERM; echo ready; while :; do sleep 0.05; done');
    await expect.poll(() => read(run)).toBe('ready\n');
    expect(await hands.stop(run.id, 60)).toEqual({ kind: 'stopping' });
    await expect.poll(async () => (await seen(run.id)).state).toBe('exited');
    // The shell has a word of its own where the signal met its `sleep` too, and none where it came between two of them.
    expect((await read(run)).replace('Terminated\n', '')).toBe('ready\nbye\n');
    expect(await hands.stop(run.id, 60)).toEqual({ kind: 'ended' });
  });

  test('kills what does not listen, also what has left the session of its job', async () => {
    const { hands, start, seen, read } = await open();
    const run = await start('deaf', 'trap "" TERM; setsid sh -c \'trap "" TERM; echo stray; sleep 600\' & sleep 600');
    await expect.poll(() => read(run)).toBe('stray\n');
    expect(await hands.stop(run.id, 0)).toEqual({ kind: 'stopping' });
    await expect.poll(async () => (await seen(run.id)).state, { timeout: 10_000 }).toBe('exited');
  });

  test('of a claim that is gone, or was not started, ends nothing', async () => {
    const { hands } = await open();
    expect(await hands.stop('f'.repeat(32), 1)).toEqual({ kind: 'gone' });
    const created = await hands.create(job('new', plainRequest('', { command: ['/bin/sleep', '1'] })), grantOf(0));
    if (created.kind !== 'created') throw new Error(JSON.stringify(created));
    expect(await hands.stop(created.id, 1)).toMatchObject({ kind: 'failed' });
  });
});

describe('the output', () => {
  test('is followed to the end of the job', async () => {
    const { start, read } = await open();
    const run = await start('slow', 'for each in 1 2 3; do echo line $each; sleep 0.2; done; echo last >&2');
    expect(await read(run, { follow: true })).toBe('line 1\nline 2\nline 3\nlast\n');
  });

  test.each([
    ['the last two lines', 'printf "a\\nb\\nc\\n"', 2, 'b\nc\n'],
    ['more lines than there are', 'printf "a\\nb\\n"', 10, 'a\nb\n'],
    ['a last line without an end', 'printf "a\\nb"', 1, 'b'],
    ['no line', 'printf "a\\nb\\n"', 0, ''],
    ['lines from far behind', 'i=0; while [ $i -lt 20000 ]; do echo "line $i"; i=$((i+1)); done', 1, 'line 19999\n'],
  ])('may be %s', async (_says, script, tail, expected) => {
    const { start, read, seen } = await open();
    const run = await start('done', script);
    await expect.poll(async () => (await seen(run.id)).state, { timeout: 10_000 }).toBe('exited');
    expect(await read(run, { tail })).toBe(expected);
  });

  test('ends when its reader goes', async () => {
    const { start, read, over } = await open();
    const run = await start('long', 'echo begun; sleep 600');
    const reading = read(run, { follow: true });
    setTimeout(() => over.abort(), 300);
    expect(await reading).toBe('begun\n');
  });
});
