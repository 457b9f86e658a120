import { describe, expect, test } from 'vitest';
import { createLog, type LogOptions } from '../../src/log/log.js';
import { isPlain } from '../../src/text/plain.js';

/** What a log with these options wrote. */
function written(write: (log: ReturnType<typeof createLog>) => void, options: Partial<LogOptions> = {}): string {
  const lines: string[] = [];
  write(createLog({ level: 'info', format: 'json', ...options }, { write: (line) => void lines.push(line) }));
  return lines.join('');
}

test('a line is JSON with its level, its moment, its data and its sentence', () => {
  const line: unknown = JSON.parse(written((log) => log.info({ cards: 8 }, 'The gate listens.')));
  expect(line).toEqual({
    level: 'info',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string,
    cards: 8,
    msg: 'The gate listens.',
  });
});

test('for a terminal it is a line to be read', () => {
  expect(written((log) => log.warn({}, 'Redis does not answer.'), { format: 'pretty' })).toMatch(
    /WARN.*Redis does not answer\./,
  );
});

test.each(['json', 'pretty'] as const)('what a terminal would heed is not in a line, as %s', (format) => {
  const hostile = 'a\u001B[2J\u009B\u202Eb';
  const err = new Error(hostile);
  const text = written((log) => log.warn({ [hostile]: hostile, list: [hostile], err }, hostile), { format });
  expect(text.split('\n').filter((line) => !isPlain(line))).toEqual([]);
  expect(text).toContain('a b');
});

test('what is less important than the level is left out', () => {
  expect(written((log) => log.debug({}, 'x'))).toBe('');
  expect(written((log) => log.info({}, 'x'), { level: 'warn' })).toBe('');
});

describe('no secret gets into a line', () => {
  const circle: Record<string, unknown> = { password: 'hunter2' };
  circle['self'] = circle;
  const selfish: Error & { self?: Error } = new Error('redis://:hunter2@h');
  selfish.cause = selfish;
  selfish.self = selfish;
  test.each<[string, object]>([
    ['a header', { headers: { Authorization: 'Bearer hunter2' } }],
    ['a password by a longer name', { redisPassword: 'hunter2' }],
    ['a token in a list', { callers: [{ name: 'a', token: 'hunter2' }] }],
    ['an environment, deep in a request', { spec: { container: { env: { KEY: 'hunter2' } } } }],
    ['the environment as Docker writes it', { Config: { Env: ['KEY=hunter2'] } }],
    ['a Redis address', { url: 'redis://user:hunter2@redis:6379/0' }],
    ['a Redis address in a sentence of an error', { err: new Error('cannot reach rediss://:hun@hunter2@redis') }],
    ['what an error carries', { err: Object.assign(new Error('x'), { options: { env: { KEY: 'hunter2' } } }) }],
    ['what the cause of an error carries', { err: new Error('x', { cause: new Error('redis://:hunter2@h') }) }],
    ['a circle', circle],
    ['an error that is its own cause', { err: selfish }],
  ])('%s', (_says, data) => {
    const line = written((log) => log.error(data, 'Something failed.'));
    expect(line).not.toContain('hunter2');
    expect(line).toContain('Something failed.');
  });

  test('not even in the sentence', () => {
    expect(written((log) => log.info({}, 'Redis is at redis://:hunter2@redis:6379.'))).toContain(
      'redis://***@redis:6379',
    );
  });

  test('and what is none stays', () => {
    const line = written((log) =>
      log.info({ tokensFile: '/etc/tokens', tokens: 3, environment: 'lab', at: new Date(0) }, 'x'),
    );
    expect(JSON.parse(line)).toMatchObject({
      tokensFile: '/etc/tokens',
      tokens: 3,
      environment: 'lab',
      at: '1970-01-01T00:00:00.000Z',
    });
  });
});

test('an error is written with its name, its words, its stack and its cause', () => {
  const err = new TypeError('no list', { cause: new Error('ECONNREFUSED') });
  const line = JSON.parse(written((log) => log.error({ err }, 'x'))) as { err: Record<string, string> };
  expect(line.err['type']).toBe('TypeError');
  expect(line.err['message']).toBe('no list: ECONNREFUSED');
  expect(line.err['stack']).toContain('log.test.ts');
});
