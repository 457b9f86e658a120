/** Log lines as JSON, or formatted for a person on a terminal. To standard error: standard output belongs to the audit. */

import { createRequire } from 'node:module';
import { pino, stdSerializers, type DestinationStream } from 'pino';
import type { Log } from '../model/ports/outside.js';
import { plain, plainLines } from '../text/plain.js';

/** The options for the log's format. */
export interface LogOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly format: 'json' | 'pretty';
}

/**
 * A log. Replaces values whose key names a secret (authorization, password, token, secret, env), at any depth and in errors
 * too, and in a Redis address everything before the host. Terminal control characters become blanks.
 */
export function createLog(options: LogOptions, destination: DestinationStream | null = null): Log {
  const to = destination ?? pino.destination({ fd: 2, sync: true });
  const logger = pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: (data) => withoutSecrets(data, 0) as typeof data },
      // `withoutSecrets` has serialized errors already.
      serializers: { err: (asPlain: unknown) => asPlain },
    },
    options.format === 'pretty' ? forPeople(to, destination === null && process.stderr.isTTY) : to,
  );
  return {
    debug: (data, sentence) => logger.debug(data, withoutLogin(plain(sentence))),
    info: (data, sentence) => logger.info(data, withoutLogin(plain(sentence))),
    warn: (data, sentence) => logger.warn(data, withoutLogin(plain(sentence))),
    error: (data, sentence) => logger.error(data, withoutLogin(plain(sentence))),
  };
}

/** Formats each line of JSON for a person; in colour where the terminal supports it (`NO_COLOR` is honoured). */
function forPeople(to: DestinationStream, onTerminal: boolean): DestinationStream {
  // Loaded here, since a gate whose log is read by a machine never needs it.
  const { prettyFactory } = createRequire(import.meta.url)('pino-pretty') as typeof import('pino-pretty');
  const toText = prettyFactory({ colorize: onTerminal && process.stderr.hasColors() });
  return { write: (line) => to.write(toText(line)) };
}

const SECRET_KEY = /(^env|authorization|password|token|secret|credential)s?$/i;

/** Nobody reads deeper than this; also stops at a circular reference. */
const DEEPEST = 8;

/** A copy with the secrets replaced. Values other than plain objects, lists and errors are returned unchanged. */
function withoutSecrets(data: unknown, depth: number): unknown {
  if (typeof data === 'string') return withoutLogin(plainLines(data));
  if (typeof data !== 'object' || data === null) return data;
  if (depth > DEEPEST) return '[deeper]';
  if (data instanceof Error) return withoutSecrets({ ...stdSerializers.err(data) }, depth + 1);
  if (Array.isArray(data)) return data.map((each) => withoutSecrets(each, depth + 1));
  const prototype: unknown = Object.getPrototypeOf(data);
  if (prototype !== Object.prototype && prototype !== null) return data;
  return Object.fromEntries(
    Object.entries(data).map(([key, each]) => [
      plain(key),
      hides(key, each) ? '[hidden]' : withoutSecrets(each, depth + 1),
    ]),
  );
}

/** Numbers, booleans and null contain no secret; `tokensFile` is a path and ends in another word. */
function hides(key: string, each: unknown): boolean {
  return SECRET_KEY.test(key) && each !== null && (typeof each === 'string' || typeof each === 'object');
}

/** Everything before the last `@`: a password may contain one itself. */
function withoutLogin(text: string): string {
  return text.replaceAll(/(rediss?:\/\/)(\S*)/g, (_url, scheme: string, rest: string) => {
    const host = rest.slice(rest.lastIndexOf('@') + 1);
    return `${scheme}${host === rest ? '' : '***@'}${host}`;
  });
}
