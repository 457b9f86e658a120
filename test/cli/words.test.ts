import { describe, expect, test } from 'vitest';
import { cardsAnswer } from '../../src/cards/card-answer.js';
import type { GateSaid } from '../../src/cli/client/ask-gate.js';
import { outcomeOf } from '../../src/cli/client/decision-words.js';
import { gateAddress } from '../../src/cli/client/gate-address.js';
import { shownCards } from '../../src/cli/client/gate-shapes.js';
import { statusLines } from '../../src/cli/client/status-words.js';
import { createProgress } from '../../src/cli/terminal/progress.js';
import { judge } from '../../src/occupancy/judge.js';
import { isPlain } from '../../src/text/plain.js';
import { rules } from '../occupancy/make.js';
import { mixedMachine } from '../page/mixed-machine.js';

const answered = (status: number, body: unknown, retryAfterS: number | null = null): GateSaid => ({
  kind: 'answered',
  status,
  retryAfterS,
  body,
});
const run = { name: 'tuneplane-a', container_id: 'c', state: 'running' };
const waits = {
  decision: 'wait',
  run_id: 'a',
  requested: 2,
  free: 1,
  retry_after_seconds: 5,
  explain: '8 cards, 1 free',
};

describe('an answer of /admit', () => {
  test.each<[string, GateSaid, number, number | null, string]>([
    [
      'admitted is 0',
      answered(201, { decision: 'admitted', replayed: false, run_id: 'a', gpus: [0, 1], run }),
      0,
      null,
      'admitted: a runs on cards 0, 1 as tuneplane-a',
    ],
    [
      'replayed is 0',
      answered(200, { decision: 'admitted', replayed: true, run_id: 'a', gpus: [3], run }),
      0,
      null,
      'admitted before and is running on card 3',
    ],
    [
      'starting is 0',
      answered(202, { decision: 'starting', run_id: 'a', gpus: [3], run }),
      0,
      null,
      'its start takes long',
    ],
    [
      'ended is 4',
      answered(200, { decision: 'ended', run_id: 'a', run: { ...run, state: 'exited', exit_code: 137 } }),
      4,
      null,
      'exit code 137',
    ],
    [
      'wait is 3, and asks to come again',
      answered(200, { ...waits, reasons: [{ code: 'job_held', cards: [0] }] }, 5),
      3,
      5,
      'a asks for 2, 1 free',
    ],
    ['would wait is 3', answered(200, { ...waits, decision: 'would_wait', dry_run: true }), 3, 5, 'would wait: a'],
    [
      'would be admitted is 0',
      answered(200, { decision: 'would_admit', dry_run: true, run_id: 'a', gpus: [] }),
      0,
      null,
      'a on no cards',
    ],
    [
      'would be replayed is 0',
      answered(200, { decision: 'would_replay', run_id: 'a', run }),
      0,
      null,
      'there already: a',
    ],
    [
      'but 4 where it has ended',
      answered(200, { decision: 'would_replay', run_id: 'a', run: { ...run, state: 'exited' } }),
      4,
      null,
      'exited',
    ],
    [
      'a 4xx is 5, whatever comes later',
      answered(422, { code: 'unsatisfiable', detail: 'too many' }),
      5,
      null,
      'refused (422 unsatisfiable): too many',
    ],
    [
      'a 503 is 6, and may be asked again',
      answered(503, { code: 'busy', detail: 'full' }, 2),
      6,
      2,
      'not decided (503 busy): full',
    ],
    [
      'a 502 is 6, and is not asked again by itself',
      answered(502, { code: 'start_failed', detail: 'no', daemon_message: 'oops' }),
      6,
      null,
      'start_failed',
    ],
    ['no gate at all is 6', { kind: 'unreachable', detail: 'nobody' }, 6, 5, 'nobody'],
    ['a page of something else is 6', answered(200, '<html>'), 6, null, 'not come from a gate'],
  ])('%s', (_says, said, exit, againInS, words) => {
    const outcome = outcomeOf(said);
    expect({ exit: outcome.exit, againInS: outcome.againInS }).toEqual({ exit, againInS });
    expect(outcome.lines.join('\n')).toContain(words);
  });

  test('names each field that is wrong, and the words of Docker', () => {
    const body = {
      code: 'x',
      detail: 'd',
      errors: [{ pointer: '/count', detail: 'a number' }],
      daemon_message: 'oops',
    };
    expect(outcomeOf(answered(400, body)).lines).toEqual([
      'refused (400 x): d',
      '  /count: a number',
      '  Docker says: oops',
    ]);
  });
});

describe('where a gate is asked', () => {
  test.each([
    ['the flag wins', 'http://a:1', { TUNEPLANE_URL: 'http://b:2' }, 'http://a:1'],
    [
      'then TUNEPLANE_URL',
      undefined,
      { TUNEPLANE_URL: 'unix:/run/g.sock', TUNEPLANE_LISTEN: 'c:3' },
      'unix:/run/g.sock',
    ],
    ['then the first address that the gate listens on', undefined, { TUNEPLANE_LISTEN: 'c:3,unix:/x' }, 'http://c:3'],
    ['then where a gate listens by itself', undefined, {}, 'http://127.0.0.1:9840'],
    ['all addresses are called at the loopback', undefined, { TUNEPLANE_LISTEN: '0.0.0.0:7' }, 'http://127.0.0.1:7'],
    ['those of IPv6 too', undefined, { TUNEPLANE_LISTEN: '[::]:7' }, 'http://[::1]:7'],
    ['a path before the gate is kept', 'https://proxy/gate/', {}, 'https://proxy/gate'],
  ])('%s', (_says, flag, env, written) => expect(gateAddress(flag, env)).toMatchObject({ written }));

  test.each([
    ['http://', 'expected http://host:port'],
    ['nowhere', 'expected http://host:port'],
    ['127.0.0.1:0', 'expected http://host:port'],
    ['http://me:secret@gate:1', 'a token comes from a file'],
  ])('not at %s', (flag, words) => {
    const found = gateAddress(flag, {});
    expect(found).toEqual({ kind: 'problem', detail: expect.stringContaining(words) });
    expect(JSON.stringify(found)).not.toContain('secret');
  });
});

describe('the table', () => {
  const parse = () => {
    const snapshot = mixedMachine();
    const answer = cardsAnswer({ snapshot, occupancy: judge(snapshot, rules()) }, snapshot.endedAtMs, null);
    return shownCards.parse(JSON.parse(JSON.stringify(answer)));
  };

  test('has a row for each card with its state, and the sentence that explains', () => {
    const cards = parse();
    const lines = statusLines({ where: 'here', cards, readiness: null, line: [] }, 120);
    for (const { state } of cards.cards) expect(lines.join('\n')).toContain(state);
    expect(lines.join(' ')).toContain(cards.explain);
  });

  test('fits the screen, whatever its width', () => {
    const lines = statusLines({ where: 'here', cards: parse(), readiness: null, line: [] }, 40);
    expect(Math.max(...lines.map((line) => line.length))).toBe(40);
  });

  test('says what is not ready', () => {
    const readiness = { ready: false, parts: { lock: { ok: false, detail: 'Redis does not answer' } } };
    const lines = statusLines({ where: 'here', cards: parse(), readiness, line: [] }, 200);
    expect(lines[0]).toContain('NOT READY (lock: Redis does not answer)');
    expect(lines.join('\n')).toContain('not available: Redis');
  });

  test('shows who waits, and what is kept for whom', () => {
    const cards = parse();
    for (const card of cards.cards.slice(0, 2)) card.reserved_for = 'big';
    const since = '2026-11-29T10:54:30.250Z';
    const line = [
      { run_id: 'big', position: 1, count: 8, principal: 'ann', since, waiting_seconds: 3 * 3600 + 5 * 60 + 59 },
      { run_id: 'small', position: 2, count: 1, principal: 'kim', since, waiting_seconds: 41 },
    ];
    const lines = statusLines({ where: 'here', cards, readiness: null, line }, 200);
    const from = lines.findIndex((each) => each.startsWith('place'));
    expect(lines.slice(from, from + 3)).toEqual([
      'place  run    user  cards  waits      since',
      '1      big    ann   8      3 h 5 min  2026-11-29T10:54:30Z  kept for it: 0, 1',
      '2      small  kim   1      41 s       2026-11-29T10:54:30Z',
    ]);
  });

  test('of a gate that does not say who waits says so, and of an empty line nothing', () => {
    const text = (line: [] | null) =>
      statusLines({ where: 'here', cards: parse(), readiness: null, line }, 200).join('\n');
    expect(text(null)).toContain('the gate does not say who waits');
    expect(text([])).not.toMatch(/waits|^place/m);
  });

  test('heeds no escape sequence in a name that somebody chose', () => {
    const cards = parse();
    const [first] = cards.cards;
    if (first !== undefined) first.held_by = { run_id: 'a\u001B[2J\u0007', state: 'running' };
    const text = statusLines({ where: 'here', cards, readiness: null, line: [] }, 500).join('\n');
    expect(text).toMatch(/job_held   a  +69/);
    expect(text.split('\n').filter((line) => !isPlain(line))).toEqual([]);
  });
});

describe('progress', () => {
  const listening = (isTTY: boolean) => {
    const written: string[] = [];
    const stream = { isTTY, columns: 30, on: () => undefined, write: (text: string) => written.push(text) };
    return { written, stream: stream as unknown as NodeJS.WriteStream };
  };

  test('is one line on a terminal, written anew and cut to its width', () => {
    const { written, stream } = listening(true);
    const progress = createProgress(stream, () => 0);
    progress.show('waits for its turn', '0:01,');
    progress.show('waits for its turn, and what a long story it is', '0:02,');
    progress.end();
    expect(written).toEqual([
      '\r0:01, waits for its turn\u001B[K',
      '\r0:02, waits for its turn, an…\u001B[K',
      '\r\u001B[K',
    ]);
  });

  test('is a line for each news elsewhere, and the same once a minute', () => {
    const { written, stream } = listening(false);
    let now = 0;
    const progress = createProgress(stream, () => now);
    for (const [at, says] of [
      [0, 'a'],
      [5000, 'a'],
      [10_000, 'b'],
      [15_000, 'b'],
      [71_000, 'b'],
    ] as const) {
      now = at;
      progress.show(says, `${at}`);
    }
    progress.end();
    expect(written).toEqual(['a\n', 'b\n', 'b\n']);
  });
});
