import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { getuid } from 'node:process';
import { whyNotTrusted } from '../../files/trust.js';

/**
 * Reads the password file anew at each call, without the line's end. Throws if it is unreadable, or if others could write
 * it.
 */
export function passwordFrom(path: string, ownUid = getuid?.() ?? 0): () => string {
  return () => {
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const distrust = whyNotTrusted(fstatSync(file), ownUid);
      if (distrust !== null) throw new Error(`${path} ${distrust}`);
      return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
    } finally {
      closeSync(file);
    }
  };
}
