/** Prints for people and for scripts. A reader that has left (`| head`) is no mistake. */

import { plain, plainJson } from '../../text/plain.js';

const left = new AbortController();
let guarded = false;

/** Aborts when whoever read our output has left: what goes on for ever has nobody to go on for. */
export const readerLeft: AbortSignal = left.signal;

/** To standard output, what others wrote made harmless. */
export function say(...lines: readonly string[]): void {
  write(process.stdout, lines.map((line) => `${plain(line)}\n`).join(''));
}

/** The same over what is on the screen: each line ends what it replaces, so that nothing flickers. */
export function draw(...lines: readonly string[]): void {
  const [home, restOfLine, restOfScreen] = ['\u001B[H', '\u001B[K', '\u001B[J'];
  write(process.stdout, `${home}${lines.map((line) => `${plain(line)}${restOfLine}\n`).join('')}${restOfScreen}`);
}

/** To standard error; what is indented belongs to the line above it. */
export function complain(...lines: readonly string[]): void {
  const named = lines.map((line) => `${line.startsWith(' ') ? '' : 'gpu-gate: '}${plain(line)}\n`);
  write(process.stderr, named.join(''));
}

/** One value as JSON, on lines of its own or on one. */
export function sayJson(value: unknown, indent = 2): void {
  write(process.stdout, `${plainJson(value, indent)}\n`);
}

/** As it is, control characters and all. */
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

/** How many characters fit on a line; without end where it is no terminal. A terminal that nobody gave a size says 0. */
export function screenWidth(stream: Pick<NodeJS.WriteStream, 'isTTY' | 'columns'> = process.stdout): number {
  return stream.isTTY ? Math.max(20, stream.columns || 80) : Number.POSITIVE_INFINITY;
}
