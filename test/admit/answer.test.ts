import { expect, test } from 'vitest';
import type { z } from 'zod';
import {
  admittedAnswer,
  endedAnswer,
  startingAnswer,
  waitAnswer,
  wouldAdmitAnswer,
  wouldReplayAnswer,
  wouldWaitAnswer,
} from '../../src/admit/answer-shape.js';
import { answer } from '../../src/admit/answer.js';
import { REFUSAL_CODES, type Decision, type RefusalCode } from '../../src/model/admission.js';
import { cardIndex } from '../../src/model/card.js';
import { admitted } from '../http/gate.js';

const running = admitted();
const ended = { ...running, run: { ...running.run, state: 'exited' as const, exitCode: 3 } };
const waiting = {
  requested: 2,
  free: 1,
  retryAfterSeconds: 5,
  explain: '1 card is free, 2 were asked for',
  reasons: [{ code: 'job_held' as const, cards: [cardIndex(0)] }],
  place: { position: 3, waitedMs: 41_900 },
};
const cards = [
  { index: 0, uuid: 'GPU-0', name: 'NVIDIA H100 80GB HBM3' },
  { index: 1, uuid: 'GPU-1', name: 'NVIDIA H100 80GB HBM3' },
];
const given = { run_id: 'train-17', gpus: [0, 1], cards, placement: running.placement };
const run = { name: 'tuneplane-train-17', container_id: 'c0ffee', state: 'running' };
const wait = {
  run_id: 'train-17',
  requested: 2,
  free: 1,
  position: 3,
  waiting_seconds: 41,
  retry_after_seconds: 5,
  explain: '1 card is free, 2 were asked for',
  reasons: [{ code: 'job_held', cards: [0] }],
};

const TABLE: [string, Decision, z.ZodType, number, Record<string, string>, object][] = [
  [
    'a started run is 201 and says where it is',
    running,
    admittedAnswer,
    201,
    { Location: '/runs/train-17' },
    { decision: 'admitted', replayed: false, ...given, run },
  ],
  [
    'a run that runs already is 200',
    { ...running, replayed: true },
    admittedAnswer,
    200,
    {},
    { decision: 'admitted', replayed: true, ...given, run },
  ],
  [
    'a start that goes on is 202',
    { ...running, kind: 'starting', explain: 'the gate b starts it' },
    startingAnswer,
    202,
    { Location: '/runs/train-17' },
    { decision: 'starting', ...given, explain: 'the gate b starts it', run },
  ],
  [
    'a run that has ended is 200 with its exit code',
    { ...ended, kind: 'ended' },
    endedAnswer,
    200,
    {},
    { decision: 'ended', ...given, run: { ...run, state: 'exited', exit_code: 3 } },
  ],
  [
    'not your turn yet is 200 and says when to come again',
    { kind: 'wait', ...waiting },
    waitAnswer,
    200,
    { 'Retry-After': '5' },
    { decision: 'wait', ...wait },
  ],
  [
    'a dry run that would be admitted says on which cards',
    { kind: 'would_admit', cards: running.cards, placement: running.placement, admittedBlind: false },
    wouldAdmitAnswer,
    200,
    {},
    { dry_run: true, decision: 'would_admit', ...given },
  ],
  [
    'a dry run that would wait says why',
    { kind: 'would_wait', ...waiting },
    wouldWaitAnswer,
    200,
    { 'Retry-After': '5' },
    { dry_run: true, decision: 'would_wait', ...wait },
  ],
  [
    'a dry run of a known run shows it',
    { ...ended, kind: 'would_replay' },
    wouldReplayAnswer,
    200,
    {},
    { dry_run: true, decision: 'would_replay', ...given, run: { ...run, state: 'exited', exit_code: 3 } },
  ],
];

test.each(TABLE)('%s', (_says, decision, shape, status, headers, body) => {
  const said = answer(decision, 'train-17');
  expect(said).toEqual({ status, headers: { 'Content-Type': 'application/json', ...headers }, body });
  shape.parse(said?.body);
});

test('cards that were counted as free without being seen are said to be, and have indices alone', () => {
  const decision = admitted({ admittedBlind: true, cards: [{ index: cardIndex(3), uuid: null, name: null }] });
  const body = answer(decision, 'a')?.body;
  expect(body).toMatchObject({ admitted_blind: true, gpus: [3], cards: [{ index: 3, uuid: null, name: null }] });
  expect(body?.['explain']).toContain('could not see');
  admittedAnswer.parse(body);
});

test('time to wait is whole seconds, at least one', () => {
  for (const [seconds, said] of [
    [0.2, 1],
    [1.2, 2],
  ] as const) {
    const { headers, body } = answer({ kind: 'wait', ...waiting, retryAfterSeconds: seconds }, 'a') ?? {};
    expect([headers?.['Retry-After'], body?.['retry_after_seconds']]).toEqual([String(said), said]);
  }
});

const STATUS: Record<RefusalCode, number> = {
  invalid_request: 400,
  unauthenticated: 401,
  forbidden: 403,
  policy_denied: 403,
  run_id_reused: 422,
  unsatisfiable: 422,
  image_not_found: 422,
  container_refused: 422,
  too_large: 413,
  unsupported_media_type: 415,
  internal: 500,
  image_pull_failed: 502,
  create_failed: 502,
  start_failed: 502,
  docker_unavailable: 503,
  lock_unavailable: 503,
  draining: 503,
  busy: 503,
  stopped: 409,
};

test.each(REFUSAL_CODES)('the refusal %s has its row of the table', (code) => {
  const said = answer({ kind: 'refused', code, detail: 'because' }, 'a');
  expect(said?.status).toBe(STATUS[code]);
  expect(said?.headers['Content-Type']).toBe('application/problem+json');
  expect(said?.headers['Retry-After']).toBe(STATUS[code] === 503 ? '5' : undefined);
  expect(said?.body).toMatchObject({
    type: `urn:tuneplane:problem:${code}`,
    code,
    status: STATUS[code],
    detail: 'because',
    retryable: [502, 503].includes(STATUS[code]),
  });
});

test("a refusal carries Docker's words, whether it was rolled back, the wrong fields and its own time", () => {
  const said = answer(
    {
      kind: 'refused',
      code: 'start_failed',
      detail: 'x',
      daemonMessage: 'no such device',
      rolledBack: true,
      errors: [{ pointer: '/count', detail: 'y' }],
      retryAfterSeconds: 7,
    },
    'a',
  );
  expect(said?.headers['Retry-After']).toBe('7');
  expect(said?.body).toMatchObject({
    daemon_message: 'no such device',
    rolled_back: true,
    errors: [{ pointer: '/count', detail: 'y' }],
    retry_after_seconds: 7,
  });
});

test('nobody is answered who has gone', () => {
  expect(answer({ kind: 'client_gone' }, 'a')).toBeNull();
});
