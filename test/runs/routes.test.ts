import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Keys } from '../../src/http/auth.js';
import { parseTokens } from '../../src/http/tokens-file.js';
import { startGate, type Gate } from '../http/gate.js';

/** `DELETE /runs/{run_id}` of a run that is out of reach. */

const remove = (gate: Gate, query: string, token?: string): Promise<Response> =>
  fetch(`${gate.url}/runs/train-17${query}`, {
    method: 'DELETE',
    headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
  });

const problemOf = async (response: Response) => (await response.json()) as { code: string; detail: string };

test('the refusal to remove a run that is out of reach names the call that gives it up', async () => {
  const gate = await startGate();
  gate.removal = 'out_of_reach';
  const response = await remove(gate, '');
  expect(response.status).toBe(409);
  const { code, detail } = await problemOf(response);
  expect(code).toBe('run_alive');
  expect(detail).toContain('gpu-gate remove --lost train-17, or DELETE /runs/train-17?lost=true');
  expect(gate.givenUp).toEqual([]);
});

test('a lost run is given up at a word of its own, and that is written down', async () => {
  const gate = await startGate();
  expect((await remove(gate, '?lost=true')).status).toBe(204);
  expect([gate.givenUp, gate.removed]).toEqual([['train-17'], []]);
  expect(gate.audit).toMatchObject([{ action: 'delete', runId: 'train-17', principal: 'local', outcome: 'given_up' }]);
});

test.each<[string, Gate['givingUp'], number, string, string]>([
  ['can be asked for', { kind: 'in_reach', why: 'process 42 lives' }, 409, 'run_alive', 'process 42 lives'],
  ['is unknown', 'unknown', 404, 'not_found', '"train-17"'],
  ['cannot be told', { kind: 'refused', code: 'docker_unavailable', detail: 'x' }, 503, 'docker_unavailable', 'x'],
])('a run that %s is not given up, and the words say why', async (_says, givingUp, status, code, words) => {
  const gate = await startGate();
  gate.givingUp = givingUp;
  const response = await remove(gate, '?lost=true');
  expect(response.status).toBe(status);
  expect(await problemOf(response)).toMatchObject({ code, detail: expect.stringContaining(words) });
  expect(gate.audit).toMatchObject([{ runId: 'train-17', outcome: code, detail: expect.stringContaining(words) }]);
});

test.each(['?lost=false', '?lost=True', '?lost=1', '?lost=', '?lost', '?lost=true&lost=true', '?lost=true&force=true'])(
  '%s is refused, and nothing is done',
  async (query) => {
    const gate = await startGate();
    const response = await remove(gate, query);
    expect(response.status).toBe(400);
    expect(await problemOf(response)).toMatchObject({ code: 'invalid_request' });
    expect([gate.givenUp, gate.removed]).toEqual([[], []]);
  },
);

test('whoever may remove what has ended may not give up what may live: that is for an operator', async () => {
  const sha = (token: string): string => createHash('sha256').update(token).digest('hex');
  const lines = ['cleaner:release,read,admit', 'operator:operate'].map((line) => {
    const [name = '', roles = ''] = line.split(':');
    return `${name}:${sha(name)}:${roles}`;
  });
  const parsed = parseTokens('t', lines.join('\n'), 0o600);
  const entries = parsed.kind === 'good' ? parsed.value : [];
  const keys: Keys = { kind: 'tokens', file: { current: () => Promise.resolve(entries) } };
  const gate = await startGate({ keys });
  for (const query of ['?lost=true', '?lost=nonsense']) {
    const refused = await remove(gate, query, 'cleaner');
    expect(refused.status).toBe(403);
    expect((await problemOf(refused)).detail).toContain('the role operate');
  }
  expect(gate.givenUp).toEqual([]);
  expect((await remove(gate, '?lost=true', 'operator')).status).toBe(204);
  expect(gate.audit.map(({ principal, outcome }) => [principal, outcome])).toEqual([
    ['cleaner', 'forbidden'],
    ['cleaner', 'forbidden'],
    ['operator', 'given_up'],
  ]);
});
