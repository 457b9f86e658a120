/** Parses a description, and names what is wrong in it and where. */

/**
 * Parses one value of a description, or throws a `BadDescription` that names the place. `otherwise` replaces a missing
 * value.
 */
export type Reader<T> = (value: unknown, at: string, otherwise?: T) => T;

/** The description is invalid; the message says which key, what was expected and what came. */
export class BadDescription extends Error {
  override name = 'BadDescription';

  constructor(at: string, expected: string, value: unknown) {
    super(`${at}: expected ${expected}, found ${value === undefined ? 'nothing' : JSON.stringify(value)}`);
  }
}

export const text: Reader<string> = plain('a text', (value) => typeof value === 'string');
export const flag: Reader<boolean> = plain('true or false', (value) => typeof value === 'boolean');
export const amount: Reader<number> = plain(
  'a number, 0 or more',
  (value) => Number.isFinite(value) && Number(value) >= 0,
);
export const whole: Reader<number> = plain(
  'a whole number, 0 or more',
  (value) => Number.isInteger(value) && Number(value) >= 0,
);

/** One of these words. */
export function oneOf<T extends string>(words: readonly T[]): Reader<T> {
  return plain(`one of ${words.join(', ')}`, (value) => words.some((word) => word === value));
}

/** A value that `read` parses, or null. */
export function orNull<T>(read: Reader<T>): Reader<T | null> {
  return (value, at, otherwise) => {
    if (value === null) return null;
    if (value === undefined && otherwise !== undefined) return otherwise;
    return read(value, at, otherwise ?? undefined);
  };
}

/** A list of values that `read` parses. */
export function listOf<T>(read: Reader<T>): Reader<T[]> {
  return (value, at, otherwise) => {
    if (value === undefined && otherwise !== undefined) return otherwise;
    if (!Array.isArray(value)) throw new BadDescription(at, 'a list', value);
    return value.map((each: unknown, index) => read(each, `${at}[${index}]`));
  };
}

/** An object with any keys, whose values `read` parses. */
export function mapOf<T>(read: Reader<T>): Reader<Record<string, T>> {
  return (value, at, otherwise) => {
    if (value === undefined && otherwise !== undefined) return otherwise;
    const entries = Object.entries(objectAt(value, at));
    return Object.fromEntries(entries.map(([key, each]) => [key, read(each, `${at}.${key}`)]));
  };
}

/** An object with some of the keys in `words`. */
export function someOf<T, K extends string>(words: readonly K[], read: Reader<T>): Reader<Partial<Record<K, T>>> {
  return (value, at, otherwise) => {
    if (value === undefined && otherwise !== undefined) return otherwise;
    const known = oneOf(words);
    const entries = Object.entries(objectAt(value, at));
    const understood = entries.map(([key, each]) => [known(key, `${at}, a key`), read(each, `${at}.${key}`)]);
    return Object.fromEntries(understood) as Partial<Record<K, T>>;
  };
}

/** An object with exactly these keys. A missing key comes from `otherwise`, and is an error where that has none. */
export function object<T extends object>(readers: { readonly [K in keyof T]-?: Reader<T[K]> }): Reader<T> {
  return (value, at, otherwise) => {
    if (value === undefined && otherwise !== undefined) return otherwise;
    const given = objectAt(value, at);
    const known = Object.keys(readers) as (keyof T & string)[];
    const stranger = Object.keys(given).find((key) => !known.some((name) => name === key));
    if (stranger !== undefined)
      throw new BadDescription(`${at}.${stranger}`, `no such key (known are ${known.join(', ')})`, given[stranger]);
    const read = known.map((key) => [key, readers[key](given[key], `${at}.${key}`, otherwise?.[key])] as const);
    return Object.fromEntries(read.filter(([, each]) => each !== undefined)) as T;
  };
}

/** One of several object shapes, chosen by `kind`. */
export function byKind<T extends { kind: string }>(shapes: {
  readonly [K in T['kind']]: Reader<Extract<T, { kind: K }>>;
}): Reader<T> {
  return (value, at, otherwise) => {
    if (value === undefined && otherwise !== undefined) return otherwise;
    const { kind } = objectAt(value, at);
    const shape = Object.entries<(given: unknown, place: string) => T>(shapes).find(([name]) => name === kind)?.[1];
    if (shape === undefined) throw new BadDescription(`${at}.kind`, `one of ${Object.keys(shapes).join(', ')}`, kind);
    return shape(value, at);
  };
}

/** The value as an object with keys to look up. */
export function objectAt(value: unknown, at: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new BadDescription(at, 'an object', value);
  return value as Record<string, unknown>;
}

function plain<T>(expected: string, fits: (value: unknown) => boolean): Reader<T> {
  return (value, at, otherwise) => {
    if (value === undefined && otherwise !== undefined) return otherwise;
    if (!fits(value)) throw new BadDescription(at, expected, value);
    return value as T;
  };
}
