/** Output lines that are no rows: a warning about an infoROM, or something from a future driver. */

import { plainWithin } from '../../text/plain.js';

/** More or longer lines do not help anyone. */
const MOST = 5;
const LONGEST = 200;

/** Sentences about them for people, each line once. */
export function strayRemarks(lines: readonly string[]): readonly string[] {
  const each = [...new Set(lines.map((line) => plainWithin(line, LONGEST)))].filter((line) => line !== '');
  const shown = each.slice(0, MOST).map((line) => `nvidia-smi also says: ${line}`);
  return each.length > MOST ? [...shown, `nvidia-smi says ${each.length - MOST} more lines that are no rows`] : shown;
}
