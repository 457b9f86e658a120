/** Reads the lines that a log has now, without waiting for more: a blocking read of `/dev/kmsg` would even hang the exit. */

import { closeSync, constants, openSync, readSync } from 'node:fs';

/** The kernel returns one record per read, of up to 8 KiB plus its escapes (PRINTK_MESSAGE_MAX). */
const BUFFER_BYTES = 32 * 1024;
/** More at once than a kernel's ring buffer holds, and little enough to read between two requests. */
const MOST_READS = 20_000;
/** A file without line breaks is not a log. */
const LONGEST_LINE = 64 * 1024;

export interface OpenLog {
  /**
   * The lines since the last call; `gaps` is how often the ring buffer overtook the reader. Throws when the log is no longer
   * readable.
   */
  read(): { readonly lines: readonly string[]; readonly gaps: number };
  close(): void;
}

/** `readSync`: only `/dev/kmsg` answers EPIPE, and only after the log of the whole machine was overwritten. */
export type ReadSome = (fd: number, buffer: Buffer, offset: number, length: number, position: null) => number;

/** Opens a device, a file or a FIFO without waiting. Throws as the system does. */
export function openLog(path: string, readSome: ReadSome = readSync): OpenLog {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const buffer = Buffer.alloc(BUFFER_BYTES);
  let rest = '';
  return {
    read: () => {
      const lines: string[] = [];
      let gaps = 0;
      for (let reads = 0; reads < MOST_READS; reads += 1) {
        const got = readOnce(readSome, fd, buffer);
        if (got === 'nothing') break;
        if (got === 'gap') {
          gaps += 1;
          continue;
        }
        const parts = (rest + buffer.toString('utf8', 0, got)).split('\n');
        rest = (parts.pop() ?? '').slice(-LONGEST_LINE);
        lines.push(...parts);
      }
      return { lines, gaps };
    },
    close: () => closeSync(fd),
  };
}

/** Why there is nothing to read at this path; null where there is. Takes nothing from the log. */
export function whyUnreadable(path: string): string | null {
  try {
    openLog(path).close();
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

/**
 * The number of bytes read. EAGAIN: nothing now. EPIPE: records were overwritten before they were read; the next read
 * continues after them.
 */
function readOnce(readSome: ReadSome, fd: number, buffer: Buffer): number | 'nothing' | 'gap' {
  try {
    const bytes = readSome(fd, buffer, 0, buffer.length, null);
    return bytes === 0 ? 'nothing' : bytes;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EAGAIN') return 'nothing';
    if (code === 'EPIPE') return 'gap';
    throw error;
  }
}
