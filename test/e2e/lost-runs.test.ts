import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { startGate, type Gate } from '../support/gate.js';
import { newClaimsFolder } from '../support/process-jobs.js';

/** Gates with the process runtime, each in a pid namespace of its own as in a container, that share one folder of claims. */

const gateIn = (claims: string): Promise<Gate> =>
  startGate({
    ownPidNamespace: true,
    settings: { TUNEPLANE_RUNTIME: 'process', TUNEPLANE_CLAIMS_DIR: claims, TUNEPLANE_SCRAPE_MAX_AGE_MS: '0' },
  });

const cardsOf = async (gate: Gate, state: string) =>
  (await gate.cards()).cards.filter((card) => card.state === state).map(({ index }) => index);

test('a job whose container is gone holds its cards, until an operator gives it up', async () => {
  const claims = newClaimsFolder();
  const [first, next] = await Promise.all([gateIn(claims), gateIn(claims)]);
  const request = { run_id: 'train', count: 2, container: { command: ['/bin/sleep', '600'] } };
  expect(await first.post('/admit', request)).toMatchObject({ status: 201, body: { gpus: [0, 1] } });
  await first.kill();
  expect(await cardsOf(next, 'job_held')).toEqual([0, 1]);
  expect((await next.get('/runs/train')).body).toMatchObject({
    state: 'running',
    exit_code: null,
    error: expect.stringContaining('another pid namespace'),
  });
  expect(await next.post('/admit', request)).toMatchObject({ status: 200, body: { replayed: true } });

  const env = { TUNEPLANE_URL: next.url };
  const refused = await runCommand(['remove', 'train'], { env });
  expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining('gpu-gate remove --lost train') });
  expect(await cardsOf(next, 'job_held')).toEqual([0, 1]);
  expect(await runCommand(['remove', '--lost', 'train'], { env })).toEqual({
    code: 0,
    stdout: 'removed as lost: train; nothing was stopped\n',
    stderr: '',
  });
  expect(await cardsOf(next, 'job_held')).toEqual([]);
  expect(readdirSync(claims)).toEqual([]);
  expect(next.audit()).toContainEqual(
    expect.objectContaining({ audit: 'delete', run_id: 'train', outcome: 'given_up' }),
  );
  expect(await runCommand(['remove', '--lost', 'train'], { env })).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('there is no run "train"'),
  });

  // A job of its own is no lost one.
  expect(await next.post('/admit', request)).toMatchObject({ status: 201, body: { gpus: [0, 1] } });
  const alive = await runCommand(['remove', '--lost', 'train'], { env });
  expect(alive).toMatchObject({ code: 5, stderr: expect.stringContaining('it lives; end it first') });
});
