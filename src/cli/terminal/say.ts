/** Prints for people and for scripts. It is no error if the reader closes the pipe (`| head`). */

import { plain, plainJson } from '../../text/plain.js';

const left = new AbortController();
let guarded = false;

/** Aborts when the reader of our output is gone, so that an endless command ends. */
export const readerLeft: AbortSignal = left.signal;

/** To standard output, with control characters from foreign text escaped. */
export function say(...lines: readonly string[]): void {
  write(process.stdout, lines.map((line) => `${plain(line)}\n`).join(''));
}

/** Redraws the screen: each line overwrites the old one and clears its rest, to avoid flicker. */
export function draw(...lines: readonly string[]): void {
  const [home, restOfLine, restOfScreen] = ['\u001B[H', '\u001B[K', '\u001B[J'];
  write(process.stdout, `${home}${lines.map((line) => `${plain(line)}${restOfLine}\n`).join('')}${restOfScreen}`);
}

/** To standard error; an indented line continues the one above it. */
export function complain(...lines: readonly string[]): void {
  const named = lines.map((line) => `${line.startsWith(' ') ? '' : 'gpu-gate: '}${plain(line)}\n`);
  write(process.stderr, named.join(''));
}

/** One value as JSON, indented or on a single line. */
export function sayJson(value: unknown, indent = 2): void {
  write(process.stdout, `${plainJson(value, indent)}\n`);
}

/** Unchanged, with control characters. */
export function write(stream: NodeJS.WriteStream, text: string): void {
  if (!guarded) {
    guarded = true;
    for (const each of [process.stdout, process.stderr]) {
      each.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EPIPE') throw error;
        left.abort();
      });
    }
  }
  stream.write(text);
}

/** The width of a line in characters; infinite without a terminal. A terminal without a known size reports 0. */
export function screenWidth(stream: Pick<NodeJS.WriteStream, 'isTTY' | 'columns'> = process.stdout): number {
  return stream.isTTY ? Math.max(20, stream.columns || 80) : Number.POSITIVE_INFINITY;
}
