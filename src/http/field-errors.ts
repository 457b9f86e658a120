/** What is wrong with a body, field by field: where, what was expected, what came. */

import type { z } from 'zod';
import type { FieldError } from '../model/admission.js';

/**
 * A body can hold thousands of mistakes; nobody reads more than this, and an answer should not be larger than its request.
 */
const MOST_ERRORS = 50;
/** No valid body is nested deeper, and a deeper one must not be traversed to its end. */
const MOST_DEPTH = 16;
/**
 * Nothing in a valid body is longer: otherwise every mistake in a long list would be described before the list is refused
 * for its length.
 */
const MOST_ENTRIES = 4_096;
/** Fields that may hold secrets: errors describe their values and never quote them. */
const SECRET = /\/(?:env|command|entrypoint)\//;

/** Every mistake in a body, at most 50; empty when it matches the schema. */
export function fieldErrors(form: z.ZodType, body: unknown): readonly FieldError[] {
  // Checked before the schema.
  const early = outOfBounds(body, '', 0);
  if (early.length > 0) return early.slice(0, MOST_ERRORS);
  const checked = form.safeParse(body);
  if (checked.success) return [];
  const errors = withoutTwins(checked.error.issues.flatMap((issue) => errorsOf(issue, body)));
  const left = errors.length - MOST_ERRORS;
  return left > 0 ? [...errors.slice(0, MOST_ERRORS), { pointer: '', detail: `and ${left} more mistakes` }] : errors;
}

function errorsOf(issue: z.core.$ZodIssue, body: unknown): FieldError[] {
  const pointer = pointerTo(issue.path);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ pointer: `${pointer}/${escaped(key)}`, detail: issue.message }));
  }
  if (issue.code === 'invalid_key') {
    return [{ pointer, detail: `${issue.issues[0]?.message ?? issue.message}, as the name of this entry` }];
  }
  const came = at(body, issue.path);
  if (came === undefined) return [{ pointer, detail: `missing; ${issue.message}` }];
  return [{ pointer, detail: `${issue.message}; got ${SECRET.test(pointer) ? kindOf(came) : shown(came)}` }];
}

/** A value can fail two checks with the same message; that is one mistake. */
function withoutTwins(errors: readonly FieldError[]): FieldError[] {
  return [...new Map(errors.map((error) => [`${error.pointer} ${error.detail}`, error])).values()];
}

/**
 * What must not reach the schema: values that are nested too deep or too long, and the key `__proto__`, which zod skips in a
 * record and which sets the prototype when V8 assigns it.
 */
function outOfBounds(value: unknown, pointer: string, depth: number): FieldError[] {
  if (typeof value !== 'object' || value === null) return [];
  if (depth > MOST_DEPTH) return [{ pointer, detail: `expected at most ${MOST_DEPTH} levels` }];
  const count = Array.isArray(value) ? value.length : Object.keys(value).length;
  if (count > MOST_ENTRIES) return [{ pointer, detail: `expected at most ${MOST_ENTRIES} entries; got ${count}` }];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === '__proto__'
      ? [{ pointer: `${pointer}/__proto__`, detail: 'unknown key' }]
      : outOfBounds(inner, `${pointer}/${escaped(key)}`, depth + 1),
  );
}

/** RFC 6901. A long key is cut: people read it, and nothing resolves it. */
function pointerTo(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${escaped(String(part))}`).join('');
}

function escaped(key: string): string {
  return (key.length > 80 ? `${key.slice(0, 80)}…` : key).replaceAll('~', '~0').replaceAll('/', '~1');
}

function at(body: unknown, path: readonly PropertyKey[]): unknown {
  let value = body;
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = Reflect.get(value, part);
  }
  return value;
}

function shown(value: unknown): string {
  if (typeof value === 'object' && value !== null) return kindOf(value);
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 60)}… (${text.length} characters)` : text;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'string') return `a string of ${value.length} characters`;
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
