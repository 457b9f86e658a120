import { describe, expect, test } from 'vitest';
import { cardIndex } from '../../src/model/card.js';
import type { JudgeRules } from '../../src/model/occupancy.js';
import type { Snapshot } from '../../src/model/snapshot.js';
import { whoCouldServe } from '../../src/occupancy/feasible.js';
import { judge } from '../../src/occupancy/judge.js';
import {
  blind,
  docker,
  gpus,
  job,
  processOn,
  remember,
  row,
  rowsUpTo,
  rules,
  seen,
  snapshot,
  uuidOf,
  value,
} from './make.js';

function served(count: number, look: Partial<Snapshot> = {}, set: Partial<JudgeRules> = {}, admitWhenBlind = false) {
  const answer = whoCouldServe(
    judge(snapshot({ gpus: gpus(rowsUpTo(4)), ...look }), rules(set)),
    count,
    admitWhenBlind,
  );
  if (answer.kind !== 'fits') return answer;
  return {
    kind: answer.kind,
    free: answer.free.map(({ index }) => index),
    blind: answer.blind.map(({ index }) => index),
  };
}
const out = { uuid: uuidOf(3), reason: 'fan', since: '2026-11-29T12:00:00.000Z', principal: 'ann', until: null };
const dark: Partial<Snapshot> = {
  gpus: blind(),
  processes: blind(),
  remembered: [0, 1, 2].map((number) => remember(number)),
  docker: docker(job('a', [1])),
};

describe('a request', () => {
  test.each<[string, ReturnType<typeof served>, object]>([
    ['of no card fits everywhere', served(0, { gpus: blind() }), { kind: 'fits', free: [], blind: [] }],
    ['fits on free cards', served(4), { kind: 'fits', free: [0, 1, 2, 3], blind: [] }],
    ['for more than the machine has never fits', served(5), { kind: 'never', machine: 4 }],
    [
      'waits for a job to end',
      served(4, { docker: docker(job('a', [1])) }),
      { kind: 'not_now', free: 3, reasons: [{ code: 'job_held', cards: [1] }] },
    ],
    [
      'never fits when it needs a card that is taken out',
      served(4, { exclusions: [out] }),
      { kind: 'never', machine: 3 },
    ],
    [
      'never fits when it needs a card that is held and taken out',
      served(4, { exclusions: [out], docker: docker(job('a', [3])) }),
      { kind: 'never', machine: 3 },
    ],
    ['never fits beyond the configured count', served(3, {}, { configuredCount: 2 }), { kind: 'never', machine: 2 }],
    [
      'waits for a missing card to come back',
      served(4, { gpus: gpus(rowsUpTo(3), { driverCount: 4 }) }),
      { kind: 'not_now', free: 3, reasons: [{ code: 'unhealthy', cards: [3] }] },
    ],
    [
      'is told every reason with its cards, in order',
      served(3, {
        gpus: gpus([
          row(0),
          row(1, { health: { eccUncorrected: value('1') } }),
          row(2, { short: true }),
          row(3),
          row(4),
          row(5),
        ]),
        processes: seen([processOn(0)]),
        docker: docker(job('a', [5])),
        exclusions: [out],
      }),
      {
        kind: 'not_now',
        free: 1,
        reasons: [
          { code: 'job_held', cards: [5] },
          { code: 'external', cards: [0] },
          { code: 'unhealthy', cards: [1] },
          { code: 'excluded', cards: [3] },
          { code: 'unknown', cards: [2] },
        ],
      },
    ],
    [
      'waits while the driver is blind',
      served(1, dark),
      {
        kind: 'not_now',
        free: 0,
        reasons: [
          { code: 'job_held', cards: [1] },
          { code: 'probe_blind', cards: [0, 2] },
        ],
      },
    ],
    [
      'fits on blind cards where the operator said so',
      served(2, dark, {}, true),
      { kind: 'fits', free: [], blind: [0, 2] },
    ],
    [
      'waits for more than the blind cards that nobody holds',
      served(3, dark, {}, true),
      { kind: 'not_now', free: 2, reasons: [{ code: 'job_held', cards: [1] }] },
    ],
    [
      'is never served blind while the containers are not seen either',
      served(1, { ...dark, docker: blind('unavailable') }, {}, true),
      { kind: 'not_now', free: 0, reasons: [{ code: 'unknown', cards: [0, 1, 2] }] },
    ],
    [
      'is not served on a card that has no index',
      served(
        1,
        { ...dark, docker: docker(), remembered: [{ ...remember(0), index: cardIndex(0) }, remember(1, 0)] },
        {},
        true,
      ),
      { kind: 'fits', free: [], blind: [0] },
    ],
    [
      'waits where no card was ever seen and none is configured',
      served(64, { gpus: blind() }, {}, true),
      { kind: 'not_now', free: 0, reasons: [{ code: 'probe_blind', cards: [] }] },
    ],
    [
      'never fits beyond the configured cards of a blind machine',
      served(3, { gpus: blind() }, { configuredCount: 2 }),
      { kind: 'never', machine: 2 },
    ],
  ])('%s', (_says, answer, expected) => expect(answer).toEqual(expected));
});
