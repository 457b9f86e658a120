import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Keys } from '../../src/http/auth.js';
import { parseTokens } from '../../src/http/tokens-file.js';
import { startGate } from './gate.js';

const sha = (token: string): string => createHash('sha256').update(token).digest('hex');
const parsed = parseTokens('t', `reader:${sha('r')}:read\nadmitter:${sha('a')}:admit`, 0o600);
const entries = parsed.kind === 'good' ? parsed.value : [];
const keys: Keys = { kind: 'tokens', file: { current: () => Promise.resolve(entries) } };
const as = (token: string) => ({ authorization: `Bearer ${token}` });
const request = { run_id: 'a', count: 1, container: { image: 'x', network: 'lan' } };

test('whoever is turned away where nothing would be changed is counted and in the audit', async () => {
  const gate = await startGate({ keys });
  await fetch(`${gate.url}/cards`);
  await fetch(`${gate.url}/no/such/path`, { headers: as('guess') });
  await fetch(`${gate.url}/runs`, { headers: as('a') });
  await gate.post(request, { query: '?dry_run=true', headers: as('r') });
  await gate.post(request, { query: '?dry_run=true', headers: as('a') });
  expect(gate.audit).toMatchObject([
    { action: 'call', principal: '?', outcome: 'unauthenticated', detail: expect.stringMatching(/^GET \/cards: /) },
    {
      action: 'call',
      principal: '?',
      outcome: 'unauthenticated',
      detail: expect.stringMatching(/^GET \/no\/such\/path: /),
    },
    { action: 'call', principal: 'admitter', outcome: 'forbidden', remote: expect.stringContaining('127.0.0.1') },
    { action: 'dry_run', principal: 'reader', outcome: 'forbidden' },
    {
      action: 'dry_run',
      principal: 'admitter',
      outcome: 'policy_denied',
      detail: expect.stringContaining('the network lan'),
    },
  ]);
  expect(gate.refused).toEqual(['unauthenticated', 'unauthenticated', 'forbidden', 'forbidden', 'policy_denied']);
});

test('what changes something has one line and is counted once too', async () => {
  const gate = await startGate({ keys });
  await gate.post(request);
  await gate.post(request, { headers: as('a') });
  expect(gate.audit.map(({ action, outcome }) => [action, outcome])).toEqual([
    ['admit', 'unauthenticated'],
    ['admit', 'policy_denied'],
  ]);
  expect(gate.refused).toEqual(['unauthenticated', 'policy_denied']);
});

test('who is let in, or is told of a mistake of form, is neither', async () => {
  const gate = await startGate({ keys });
  await fetch(`${gate.url}/cards`, { headers: as('r') });
  await fetch(`${gate.url}/no/such/path`, { headers: as('r') });
  await gate.post('{', { query: '?dry_run=true', headers: as('a') });
  expect([gate.audit, gate.refused]).toEqual([[], []]);
});

test('a path that is long is cut, and no token is in the line', async () => {
  const gate = await startGate({ keys });
  await fetch(`${gate.url}/${'x'.repeat(5000)}`, { headers: as('hunter2') });
  expect(gate.audit[0]?.detail?.length).toBeLessThan(300);
  expect(JSON.stringify(gate.audit)).not.toContain('hunter2');
});
