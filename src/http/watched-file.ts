/** A file that is read again when it has changed, and whose last good content stays when the new one is bad. */

import type { BigIntStats } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import type { Log } from '../model/ports/outside.js';
import { errorWords } from '../text/error-words.js';

/** What reading a file came to: its content understood, or every problem in it, each a sentence. */
export type FileContent<T> =
  | { readonly kind: 'good'; readonly value: T }
  | { readonly kind: 'bad'; readonly problems: readonly string[] };

export interface WatchedFile<T> {
  /** The content as it is now; the last good one where the file went bad or away, which the log says once. */
  current(): Promise<T>;
}

export type Opened<T> =
  | { readonly kind: 'good'; readonly file: WatchedFile<T> }
  | { readonly kind: 'bad'; readonly problems: readonly string[] };

/**
 * Reads the file for the first time: a bad one is refused with all its problems. Later it is looked at whenever it is asked for,
 * so that a token taken out is out at the next request.
 */
export async function openWatchedFile<T>(
  path: string,
  understand: (text: string, mode: number) => FileContent<T>,
  log: Log,
): Promise<Opened<T>> {
  const first = await read(path, understand);
  if (first.content.kind === 'bad') return { kind: 'bad', problems: first.content.problems };

  let good = first.content.value;
  let seen = first.stamp;
  let reading: Promise<void> | null = null;

  async function readAgain(): Promise<void> {
    const { stamp, content } = await read(path, understand);
    seen = stamp;
    if (content.kind === 'good') {
      good = content.value;
      log.info({ path }, 'a file that had changed was read again');
    } else {
      log.error({ path, problems: content.problems }, 'a file has become bad; what it said before stays in force');
    }
  }

  return {
    kind: 'good',
    file: {
      async current() {
        if ((await stampOf(path)) !== seen) {
          reading ??= readAgain().finally(() => (reading = null));
          await reading;
        }
        return good;
      },
    },
  };
}

/** Stamp and content from one open file, so that they belong together. */
async function read<T>(
  path: string,
  understand: (text: string, mode: number) => FileContent<T>,
): Promise<{ stamp: string; content: FileContent<T> }> {
  try {
    await using file = await open(path, 'r');
    const stats = await file.stat({ bigint: true });
    const text = await file.readFile('utf8');
    return { stamp: stampFrom(stats), content: understand(text, Number(stats.mode)) };
  } catch (error) {
    return {
      stamp: await stampOf(path),
      content: { kind: 'bad', problems: [`${path}: cannot be read: ${words(error)}`] },
    };
  }
}

async function stampOf(path: string): Promise<string> {
  try {
    return stampFrom(await stat(path, { bigint: true }));
  } catch (error) {
    return words(error);
  }
}

function stampFrom(stats: BigIntStats): string {
  return [stats.dev, stats.ino, stats.size, stats.mode, stats.mtimeNs, stats.ctimeNs].join(' ');
}

function words(error: unknown): string {
  return errorWords(error);
}
