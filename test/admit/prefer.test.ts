import { expect, test } from 'vitest';
import { holdMsOf } from '../../src/admit/prefer.js';
import { REQUEST, startGate } from '../http/gate.js';

test.each([
  [undefined, 0],
  ['wait=60', 60_000],
  ['respond-async, wait=60', 60_000],
  ['Wait = "60"; x=y', 60_000],
  ['wait=60, wait=5', 60_000],
  ['wait=301', 300_000],
  ['wait=999999999', 300_000],
  ['wait=0', 0],
  ['wait=-1', 0],
  ['wait=1.5', 0],
  ['wait=', 0],
  ['wait', 0],
  ['wait="', 0],
  ['wait=1e3', 0],
  ['waiting=60', 0],
  [`${'x,'.repeat(600)}wait=60`, 0],
])('Prefer: %s holds for %i ms', (header, ms) => expect(holdMsOf(header)).toBe(ms));

test('a request that is held is told so, one that cannot be held is not', async () => {
  const gate = await startGate();
  const post = () =>
    fetch(`${gate.url}/admit`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Prefer: 'wait=7' },
      body: JSON.stringify(REQUEST),
    });
  expect((await post()).headers.get('preference-applied')).toBe('wait=7');
  gate.canHold = false;
  expect((await post()).headers.get('preference-applied')).toBe(null);
  expect(gate.calls.map(({ holdMs }) => holdMs)).toEqual([7000, 0]);
});
