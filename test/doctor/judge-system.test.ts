import { expect, test } from 'vitest';
import { judgeClock, judgeComputeMode, judgeKernelLog, judgeWsl } from '../../src/doctor/judge-system.js';
import { blind, cannotSay, gpus, row, value } from '../occupancy/make.js';

const mode = (number: number, is: string) => row(number, { readings: { computeMode: value(is) } });

test.each([
  ['a kernel log that can be read', judgeKernelLog('/dev/kmsg', null), 'ok', 'can be read'],
  ['one that cannot', judgeKernelLog('/dev/kmsg', 'EPERM'), 'warning', 'EPERM'],
  ['one that is off', judgeKernelLog(null, null), 'warning', 'is off'],
  ['cards in the default mode', judgeComputeMode(gpus([mode(0, 'Default'), mode(1, 'Default')])), 'ok', 'all cards'],
  [
    'a card that nobody may use',
    judgeComputeMode(gpus([mode(0, 'Default'), mode(3, 'Prohibited')])),
    'warning',
    'card 3: Prohibited',
  ],
  [
    'cards that do not say',
    judgeComputeMode(gpus([row(0, { readings: { computeMode: cannotSay } })])),
    'unknown',
    'does not say',
  ],
  ['cards that cannot be seen', judgeComputeMode(blind()), 'unknown', 'no cards'],
  ['a kernel of Microsoft', judgeWsl('Linux version 5.15.90.1-microsoft-standard-WSL2'), 'warning', 'WSL'],
  ['another kernel', judgeWsl('Linux version 6.8.0-generic'), 'ok', 'no WSL'],
  ['a clock that agrees', judgeClock(-900), 'ok', 'agrees'],
  ['a clock that is behind', judgeClock(61_000), 'warning', '61 s ahead of ours'],
  ['a clock that nobody tells', judgeClock(null), 'unknown', 'does not tell'],
])('%s', (_says, verdict, state, words) => {
  expect(verdict).toMatchObject({ state, says: expect.stringContaining(words) });
});
