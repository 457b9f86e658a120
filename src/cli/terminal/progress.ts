/** How a wait goes on: one line that is written anew on a terminal, and elsewhere a line when there is something new to say. */

import { plain } from '../../text/plain.js';
import { screenWidth, write } from './say.js';
import { cut } from './table.js';

export interface Progress {
  /** `says` is the news; `meanwhile` changes every second and is shown on a terminal alone. */
  show(says: string, meanwhile: string): void;
  /** Takes the line off the terminal. */
  end(): void;
}

/** Elsewhere the same news is said again this often, so that a log shows that somebody still waits. */
const SAME_NEWS_MS = 60_000;

export function createProgress(stream: NodeJS.WriteStream, now: () => number): Progress {
  let last: { readonly says: string; readonly at: number } | null = null;
  if (!stream.isTTY) {
    return {
      show(says) {
        if (last !== null && last.says === says && now() - last.at < SAME_NEWS_MS) return;
        last = { says, at: now() };
        write(stream, `${plain(says)}\n`);
      },
      end() {},
    };
  }
  return {
    // Erased to its end only behind the new text, so that nothing flickers.
    show: (says, meanwhile) =>
      write(stream, `\r${cut(plain(`${meanwhile} ${says}`), screenWidth(stream) - 1)}\u001B[K`),
    end: () => write(stream, '\r\u001B[K'),
  };
}
