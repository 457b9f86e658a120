/** The output of a job, from the file that its launcher writes; both streams are in it as they came. */

import { open, type FileHandle } from 'node:fs/promises';
import type { Books, OutputWanted } from '../../model/ports/books.js';
import type { Clock } from '../../model/ports/outside.js';
import { pause } from '../../time/pause.js';
import { BESIDE } from './claim-file.js';
import type { ClaimsFolder } from './claims-folder.js';

export interface OutputParts {
  readonly claims: ClaimsFolder;
  readonly clock: Clock;
  /** Whether a job may still write. */
  readonly lives: (id: string) => Promise<boolean>;
}

const PIECE_BYTES = 64 * 1024;
/** How soon a reader who follows sees what was written. */
const LOOK_AGAIN_MS = 250;

export function createOutput({ claims, clock, lives }: OutputParts): Books['output'] {
  return async ({ id }, wanted, signal) => {
    try {
      const entry = await claims.byId(id);
      if (entry === null) return { kind: 'gone' };
      const file = await open(entry.prefix.slice(0, -id.length) + BESIDE.output(id)).catch(() => null);
      if (file === null) return { kind: 'stream', stream: nothing() };
      return { kind: 'stream', stream: read(file, wanted, { id, clock, lives, signal }) };
    } catch (error) {
      return { kind: 'unavailable', detail: (error as Error).message };
    }
  };
}

/** It has not begun, or what began it wrote nothing. */
async function* nothing(): AsyncGenerator<Buffer> {}

async function* read(
  file: FileHandle,
  wanted: OutputWanted,
  { id, clock, lives, signal }: Omit<OutputParts, 'claims'> & { readonly id: string; readonly signal: AbortSignal },
): AsyncGenerator<Buffer> {
  try {
    let at = wanted.tail === null ? 0 : await startOfTail(file, wanted.tail);
    let last = !wanted.follow;
    while (!signal.aborted) {
      const piece = Buffer.alloc(PIECE_BYTES);
      const { bytesRead } = await file.read(piece, 0, PIECE_BYTES, at);
      at += bytesRead;
      if (bytesRead > 0) yield piece.subarray(0, bytesRead);
      else if (last) return;
      // What it wrote between the last look and its end is read in one more round.
      else if (!(await lives(id))) last = true;
      else await pause(LOOK_AGAIN_MS, clock, signal);
    }
  } finally {
    await file.close();
  }
}

/** Where the last so many lines begin. */
async function startOfTail(file: FileHandle, lines: number): Promise<number> {
  const { size } = await file.stat();
  let found = 0;
  for (let end = size; end > 0; end -= PIECE_BYTES) {
    const from = Math.max(0, end - PIECE_BYTES);
    const piece = Buffer.alloc(end - from);
    await file.read(piece, 0, piece.length, from);
    for (let at = piece.length - 1; at >= 0; at -= 1) {
      // The end of the last line is not the beginning of one.
      if (piece[at] !== 0x0a || from + at === size - 1) continue;
      found += 1;
      if (found === lines) return from + at + 1;
    }
  }
  return lines === 0 ? size : 0;
}
