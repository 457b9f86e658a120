/** Parses the text of one setting. Every parser returns the value or what it expected; none guesses. */

import { isIP } from 'node:net';
import { isPlain } from '../text/plain.js';
import { ADDRESS_FORMS, isHostName, readAddress, writeAddress, type ListenAddress } from './addresses.js';

/** The result of parsing. `expected` completes the sentence "expected …". */
export type Parsed<T> =
  | { readonly kind: 'value'; readonly value: T }
  | { readonly kind: 'bad'; readonly expected: string };

/** From the text of a setting to its value. */
export type Parser<T> = (text: string) => Parsed<T>;

const value = <T>(read: T): Parsed<T> => ({ kind: 'value', value: read });
const bad = (expected: string): { readonly kind: 'bad'; readonly expected: string } => ({ kind: 'bad', expected });

const TRUE = new Set(['true', '1', 'yes', 'on']);
const FALSE = new Set(['false', '0', 'no', 'off']);

/** `true`, `1`, `yes`, `on` and their opposites, in any case. */
export const flag: Parser<boolean> = (text) => {
  const word = text.toLowerCase();
  if (TRUE.has(word)) return value(true);
  return FALSE.has(word) ? value(false) : bad('true or false (also 1, 0, yes, no, on, off)');
};

/** Decimal digits only, from `least` to `most`: an empty text, hex, a sign or an exponent is not accepted. */
export function wholeNumber(least: number, most: number): Parser<number> {
  return (text) => {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return number >= least && number <= most ? value(number) : bad(`a whole number from ${least} to ${most}`);
  };
}

/** Seconds, fractions allowed: `10`, `0.5`. */
export function seconds(least: number, most: number): Parser<number> {
  return (text) => {
    const number = /^\d{1,15}(\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN;
    return number >= least && number <= most ? value(number) : bad(`seconds from ${least} to ${most}`);
  };
}

/** One of these words, spelled exactly. */
export function oneOf<Word extends string>(...words: readonly Word[]): Parser<Word> {
  return (text) => {
    const word = words.find((known) => known === text);
    return word === undefined ? bad(`one of ${words.join(', ')}`) : value(word);
  };
}

/** Any text on one line that is not blank. `what` names its meaning. */
export function oneLine(what: string): Parser<string> {
  return (text) => (text.trim() !== '' && isPlain(text) ? value(text) : bad(what));
}

/** A name that is valid in a label and as a file name. */
export const shortName: Parser<string> = (text) =>
  /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/.test(text)
    ? value(text)
    : bad('1 to 63 letters, digits, "_", "." or "-", the first a letter or a digit');

/** Several addresses separated by commas, without duplicates. */
export const addresses: Parser<readonly ListenAddress[]> = (text) => {
  const read = items(text).map(readAddress);
  const written = read.flatMap((address) => (address === null ? [] : [writeAddress(address)]));
  if (written.length !== read.length || read.length === 0) return bad(`${ADDRESS_FORMS}, several with commas`);
  // Port 0 twice means two different ports.
  const fixed = written.filter((address) => !address.endsWith(':0'));
  if (new Set(fixed).size !== fixed.length) return bad('each address once');
  return value(read.filter((address) => address !== null));
};

/** Host names as in a `Host` header, with or without the port; lower-case, separated by commas. */
export const hostNames: Parser<readonly string[]> = (text) => {
  const names = items(text).map((name) => name.toLowerCase());
  return names.length > 0 && names.every(isHostHeader)
    ? value(names)
    : bad('host names, with a port or without, several with commas');
};

/** Cards by uuid or index, as `nvidia-smi -L` shows them, separated by commas. */
export const cards: Parser<readonly string[]> = (text) => {
  const named = items(text);
  return named.length > 0 && named.every((card) => /^(GPU-[0-9A-Za-z-]{1,64}|\d{1,4})$/.test(card))
    ? value(named)
    : bad('uuids (GPU-…) or indices of cards, several with commas');
};

/** Xid codes, separated by commas; an empty text means none. */
export const xidCodes: Parser<readonly number[]> = (text) => {
  if (text.trim() === '') return value([]);
  const codes = items(text);
  return codes.every((code) => /^\d{1,4}$/.test(code))
    ? value(codes.map(Number))
    : bad('numbers of Xids, several with commas, or nothing');
};

/** An address of Redis, optionally with a database number. Messages never show the user, the password or the query. */
export const redisUrl: Parser<string> = (text) => {
  const expected = 'redis://host:port or rediss://host:port, optionally a slash and a database number';
  if (!/^rediss?:\/\//.test(text) || !URL.canParse(text)) return bad(expected);
  const url = new URL(text);
  return url.hostname !== '' && url.hash === '' && /^(\/\d{0,5})?$/.test(url.pathname) ? value(text) : bad(expected);
};

/** A Redis address for people, without any part that could be a password. */
export function redisUrlForPeople(text: string): string {
  if (redisUrl(text).kind === 'bad') return '(not shown, it may hold a password)';
  const url = new URL(text);
  return `${url.protocol}//${url.username + url.password === '' ? '' : '***@'}${url.host}${url.pathname}`;
}

function items(text: string): string[] {
  return text.split(',').map((item) => item.trim());
}

function isHostHeader(name: string): boolean {
  const parts = /^(?:\[(?<v6>[^\]]+)\]|(?<host>[^:[\]]+))(?::(?<port>\d{1,5}))?$/.exec(name)?.groups;
  if (parts === undefined || Number(parts['port'] ?? 0) > 65535) return false;
  return parts['v6'] === undefined ? isHostName(parts['host'] ?? '') : isIP(parts['v6']) === 6;
}
