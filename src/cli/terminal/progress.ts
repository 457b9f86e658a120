/** Shows the progress of a wait: one line that is redrawn on a terminal, and elsewhere a new line when something changes. */

import { plain } from '../../text/plain.js';
import { screenWidth, write } from './say.js';
import { cut } from './table.js';

export interface Progress {
  /** `says` is the news; `meanwhile` changes every second and is shown on a terminal only. */
  show(says: string, meanwhile: string): void;
  /** Clears the line. */
  end(): void;
}

/** Without a terminal, the same news is repeated at this interval, so that a log shows the wait is still going on. */
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
    // Clears only the rest of the line, after writing the new text, to avoid flicker.
    show: (says, meanwhile) =>
      write(stream, `\r${cut(plain(`${meanwhile} ${says}`), screenWidth(stream) - 1)}\u001B[K`),
    end: () => write(stream, '\r\u001B[K'),
  };
}
