import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { admitRequest, BODY_LIMIT_BYTES, processAdmitRequest } from '../../src/admit/request-schema.js';
import { parseRequest } from '../../src/admit/request.js';
import { excludeRequest } from '../../src/cards/card-shape.js';
import { fieldErrors } from '../../src/http/field-errors.js';
import { whySlow } from '../support/slow-pattern.js';

/**
 * Every text of a request, as long and as hostile as a body can make it. The work is counted and not timed: the characters
 * that are given to patterns, each of which takes a step for each of them (patterns.test.ts).
 */

/** What zod tries on any text: whether characters have to be counted one by one, and whether a key is a number. */
const ZODS_OWN = [/[\uD800-\uDBFF]/, /^-?\d+(?:\.\d+)?$/];

/** A text in the form, and a body in which only this one is what it is asked to be. */
interface Place {
  readonly pointer: string;
  readonly most: number;
  readonly body: (text: string) => unknown;
}

const FORMS = [
  ['POST /admit', admitRequest, (body: unknown) => parseRequest(body)],
  ['POST /admit to the process runtime', processAdmitRequest, (body: unknown) => parseRequest(body, 'process')],
  ['POST /cards/{uuid}/exclude', excludeRequest, (body: unknown) => fieldErrors(excludeRequest, body)],
] as const;

const HOSTILE: readonly (readonly [string, (length: number) => string])[] = [
  ['letters, and NUL at the end', (length) => `/${'a'.repeat(length - 2)}\0`],
  ['slashes, and a letter at the end', (length) => `${'/'.repeat(length - 1)}a`],
  ['slashes', (length) => '/'.repeat(length)],
  ['digits, and a blank at the end', (length) => `${'0'.repeat(length - 1)} `],
  ['a colon for every other letter', (length) => 'a:'.repeat(length / 2)],
  ['dots and hyphens', (length) => `a${'.-'.repeat((length - 2) / 2)}!`],
  ['names with slashes', (length) => `${'a/'.repeat((length - 1) / 2)}!`],
  ['blanks', (length) => ' '.repeat(length)],
];

describe.each(FORMS)('%s', (_says, form, ask) => {
  const places = placesIn(z.toJSONSchema(form, { io: 'input', unrepresentable: 'any' }) as Schema, '');

  test('says of every text how long it may be', () => {
    expect(places.length).toBeGreaterThan(0);
    expect(places.filter(({ most }) => !(most < BODY_LIMIT_BYTES)).map(({ pointer }) => pointer)).toEqual([]);
  });

  test.each(places)('$pointer, too long, is given to no pattern', ({ pointer, most, body }) => {
    for (const [says, make] of HOSTILE) {
      const { answer, tried } = counted(() => ask(body(make(BODY_LIMIT_BYTES))));
      expect(JSON.stringify(answer), says).toContain(`"${pointer.split('/*')[0]}`);
      expect(Math.max(...tried), says).toBeLessThanOrEqual(Math.max(most, MOST_SAID));
    }
  });

  test.each(places)('$pointer, as long as it may be, is read once or twice', ({ most, body }) => {
    for (const [says, make] of HOSTILE) {
      const { tried } = counted(() => ask(body(make(most))));
      // Once to see what is wrong with it, and once more where nothing is; the rest is what is said of it.
      expect(sum(tried), says).toBeLessThanOrEqual(2 * most + 10 * MOST_SAID);
    }
  });
});

describe('a body that is full of', () => {
  const admit = (container: object) => ({ run_id: 'train', count: 1, container: { image: 'train', ...container } });
  const many = <T>(count: number, each: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => each(at));

  test.each<[string, object]>([
    [
      'targets of slashes',
      { mounts: many(60, (at) => ({ type: 'volume', source: 'ab', target: `/${at}${'/'.repeat(4_000)}b` })) },
    ],
    ['short arguments', { command: many(80_000, () => '') }],
    ['numbers for arguments', { command: many(120_000, () => 1) }],
    ['mounts that are none', { mounts: many(80_000, () => 1) }],
    ['variables', { env: Object.fromEntries(many(20_000, (at) => [`E${at}`, ''])) }],
    ['labels whose names are none', { labels: Object.fromEntries(many(20_000, (at) => [` ${at}`, ''])) }],
    ['unknown keys', Object.fromEntries(many(20_000, (at) => [`k${at}`, 1]))],
  ])('%s costs no more than its length, several times', (_says, container) => {
    const body = admit(container);
    expect(JSON.stringify(body).length).toBeLessThan(BODY_LIMIT_BYTES);
    const { answer, tried } = counted(() => parseRequest(body));
    expect(sum(tried)).toBeLessThan(4 * BODY_LIMIT_BYTES);
    expect(JSON.stringify(answer).length).toBeLessThan(2 * BODY_LIMIT_BYTES);
  });

  test('more entries than a request can mean is refused before any of them is looked at', () => {
    const body = admit({ command: many(4_097, () => 1) });
    expect(parseRequest(body)).toMatchObject({
      code: 'invalid_request',
      errors: [{ pointer: '/container/command', detail: 'expected at most 4096 entries; got 4097' }],
    });
    expect(parseRequest(admit({ env: Object.fromEntries(many(4_097, (at) => [`E${at}`, ''])) }))).toMatchObject({
      errors: [{ pointer: '/container/env', detail: 'expected at most 4096 entries; got 4097' }],
    });
  });
});

test.each(ZODS_OWN)('the pattern %s, which zod tries on texts of any length, cannot be made slow', async (pattern) => {
  expect(await whySlow(pattern)).toBeNull();
});

interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly maxLength?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly propertyNames?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

/** Every text below, but those of which only a few words are possible. */
function placesIn(schema: Schema, pointer: string): Place[] {
  if (schema.type === 'string' && schema.const === undefined && schema.enum === undefined) {
    return [{ pointer, most: schema.maxLength ?? Number.POSITIVE_INFINITY, body: (text) => text }];
  }
  const { properties = {}, propertyNames, additionalProperties, items } = schema;
  // Which form of several it is has to be right.
  const fixed = Object.entries(properties).flatMap(([key, each]) =>
    each.const === undefined ? [] : [[key, each.const]],
  );
  const within = (places: Place[], wrap: (value: unknown) => unknown) =>
    places.map((place) => ({ ...place, body: (text: string) => wrap(place.body(text)) }));
  return [
    ...Object.entries(properties).flatMap(([key, each]) =>
      within(placesIn(each, `${pointer}/${key}`), (value) => ({ ...Object.fromEntries(fixed), [key]: value })),
    ),
    ...(propertyNames === undefined
      ? []
      : within(placesIn(propertyNames, `${pointer}/*name`), (name) => ({ [String(name)]: '' }))),
    ...(typeof additionalProperties === 'object'
      ? within(placesIn(additionalProperties, `${pointer}/*value`), (value) => ({ A: value }))
      : []),
    ...(items === undefined ? [] : within(placesIn(items, `${pointer}/*item`), (value) => [value])),
    ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap((each) => placesIn(each, pointer)),
  ];
}

/** How many characters patterns were given meanwhile. Whatever asks for a match, be it `test`, `replace` or `split`, comes by `exec`. */
function counted<T>(work: () => T): { readonly answer: T; readonly tried: readonly number[] } {
  const exec = vi.spyOn(RegExp.prototype, 'exec');
  try {
    const answer = work();
    const { calls, contexts } = exec.mock;
    const isOurs = (pattern: unknown) => !ZODS_OWN.some(({ source }) => source === (pattern as RegExp).source);
    const ours = calls.filter((_call, at) => isOurs(contexts[at]));
    return { answer, tried: ours.map(([text]) => text.length) };
  } finally {
    exec.mockRestore();
  }
}

/** What is told of a field: its place, what is wrong with it and the first characters that came. */
const MOST_SAID = 400;

function sum(all: readonly number[]): number {
  return all.reduce((total, each) => total + each, 0);
}
