import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { startCommand } from '../support/command.js';

/** `gpu-gate run` against a gate that does not do what it is asked. */

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Answers every admission with `wait` at once, whatever is preferred; a stop as it is told to. */
async function gateThatHoldsNothing(stopStatus: number): Promise<{ readonly url: string; readonly asked: string[] }> {
  const asked: string[] = [];
  const wait = {
    decision: 'wait',
    run_id: 'one',
    requested: 1,
    free: 0,
    retry_after_seconds: 5,
    explain: '',
    reasons: [],
  };
  const server = createServer((req, res) => {
    asked.push(`${req.method} ${req.url}`);
    req.resume();
    const isStop = req.url?.endsWith('/stop') === true;
    res.writeHead(isStop ? stopStatus : 200, { 'content-type': 'application/json' });
    res.end(isStop ? undefined : JSON.stringify(wait));
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

test.each([
  [204, 'one: stopped before it began'],
  [503, 'one: nobody knows whether it was stopped'],
])('a gate that holds no request is not asked over and over; with %i to the stop it says so', async (status, says) => {
  const gate = await gateThatHoldsNothing(status);
  const run = startCommand(['run', '--name', 'one', 'train'], { env: { TUNEPLANE_URL: gate.url } });
  await expect.poll(() => run.stderr(), { timeout: 20_000 }).toContain('one');
  await new Promise((resolve) => setTimeout(resolve, 500));
  run.kill('SIGINT');
  expect((await run.ended).code).toBe(130);
  expect(run.stderr()).toContain(says);
  expect(gate.asked).toEqual(['POST /admit', 'POST /runs/one/stop']);
});
