import { afterAll, beforeAll, expect, test } from 'vitest';
import { startEngine, type Engine } from '../support/docker/engine.js';
import { startGate, type Gate } from '../support/gate.js';
import { jobToPost } from '../support/jobs-to-post.js';

/** What was said only by an exit code, in words: before the start where that can be, and on /runs afterwards. */

let engine: Engine;
let gate: Gate;
beforeAll(async () => {
  engine = await startEngine();
  gate = await startGate({ engine });
});
afterAll(async () => {
  await gate?.stop();
  await engine?.stop();
});

test('a command that is not in the image is refused, leaves nothing behind and says nothing against its card', async () => {
  const answer = await gate.post('/admit', jobToPost('typo', 1, { command: ['pyhton', 'train.py'] }));
  expect(answer.status).toBe(422);
  expect(answer.body).toMatchObject({
    code: 'container_refused',
    retryable: false,
    rolled_back: true,
    daemon_message: expect.stringContaining('exec: "pyhton": there is no such file in any folder of PATH') as string,
  });
  expect(await engine.docker.listContainers({ all: true })).toEqual([]);
  expect((await gate.cards()).cards[0]).toMatchObject({ state: 'free', failed_starts: 0 });
  expect((await gate.get('/runs/typo')).status).toBe(404);
});

test.each([
  ['a script that calls what is not there', 'pyhton train.py', 127, /^exit code 127: there is no such command/],
  ['one that kills itself', 'kill -9 $$', 137, /^exit code 137: it was killed/],
  ['one that fails for reasons of its own', 'exit 3', 3, null],
  ['one that ends well', 'exit 0', 0, null],
])('the end of %s is told in words', async (name, script, exitCode, words) => {
  const runId = name.replaceAll(' ', '-');
  expect((await gate.post('/admit', jobToPost(runId, 0, { command: ['sh', '-c', script] }))).status).toBe(201);
  await expect
    .poll(async () => (await gate.get(`/runs/${runId}`)).body, { timeout: 10_000 })
    .toMatchObject({
      state: 'exited',
      exit_code: exitCode,
      error: words === null ? null : (expect.stringMatching(words) as string),
    });
});
