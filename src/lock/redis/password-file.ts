import { readFileSync } from 'node:fs';

/** Reads the password in a file anew at each call, without the line's end. Throws when it cannot be read. */
export function passwordFrom(file: string): () => string {
  return () => readFileSync(file, 'utf8').replace(/\r?\n$/, '');
}
