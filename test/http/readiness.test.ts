import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { readinessBy } from '../../src/http/readiness.js';
import { watchRuleFiles } from '../../src/http/watch-rule-files.js';
import type { InForce, RuleFile } from '../../src/model/ports/rule-files.js';
import { card, watched } from '../metrics/occupancies.js';

const files = (...inForce: readonly InForce[]) => {
  const parts = {
    lock: { up: null, problem: () => null, held: false, acquire: () => Promise.resolve(null) },
    admissions: {
      status: () => ({
        inFlight: 0,
        lockWaiters: 0,
        lockHeld: false,
        redisUp: null,
        draining: false,
        line: { waiting: 0, oldestMs: null },
      }),
    },
    admitWhenBlind: false,
    runtimeTrouble: () => null,
    ruleFiles: () => inForce.map((how, at) => ({ file: ['tokens', 'policy'][at] ?? '', inForce: how, readAtMs: 0 })),
  };
  const { ready, parts: said } = readinessBy(watched([card(0)]), parts);
  return { ready, ...said.files };
};

test.each<[string, readonly InForce[], object]>([
  ['where there are none', [], { ready: true, ok: true, detail: null }],
  ['in force as they are written', ['as_written', 'as_written'], { ready: true, ok: true, detail: null }],
  [
    'of which the last good one stays in force, which is told',
    ['as_written', 'as_before'],
    { ready: true, detail: 'the policy file cannot be used; its last good content stays in force (the log says why)' },
  ],
  [
    'of which some lines count for nothing, which is told',
    ['in_part', 'as_written'],
    { ready: true, detail: 'some lines of the tokens file are invalid and ignored (the log names them)' },
  ],
  [
    'of which one lets nobody do anything, which is not ready',
    ['nothing', 'as_before'],
    {
      ready: false,
      ok: false,
      detail: expect.stringMatching(/^the tokens file permits nobody anything .*; the policy/),
    },
  ],
])('files %s', (_says, inForce, expected) => {
  expect(files(...inForce)).toMatchObject(expected);
});

test('the files are looked at every few seconds, though nobody asks, and not after the end', async () => {
  let looks = 0;
  const file: RuleFile = {
    look: async () => void (looks += 1),
    status: () => ({ file: 'policy', inForce: looks === 0 ? 'as_written' : 'as_before', readAtMs: 0 }),
  };
  const acts: (() => void)[] = [];
  const after = (_ms: number, act: () => void) => {
    acts.push(act);
    return () => undefined;
  };
  const looking = watchRuleFiles([null, file], { after });
  expect(looking.status()).toMatchObject([{ inForce: 'as_written' }]);
  acts.shift()?.();
  await expect.poll(() => acts.length).toBe(1);
  expect(looking.status()).toMatchObject([{ inForce: 'as_before' }]);
  looking.stop();
  acts.shift()?.();
  await sleep(20);
  expect([looks, acts.length]).toEqual([1, 0]);
});
