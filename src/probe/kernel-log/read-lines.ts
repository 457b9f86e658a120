/** Reads the lines that a log has now, and never waits for more: a read of `/dev/kmsg` that waits would hang even the exit. */

import { closeSync, constants, openSync, readSync } from 'node:fs';

/** The kernel gives one record a read, of up to 8 KiB and its escapes (PRINTK_MESSAGE_MAX). */
const BUFFER_BYTES = 32 * 1024;
/** More in one go than a kernel's ring holds, and little enough to be read between two requests. */
const MOST_READS = 20_000;
/** A file without line breaks is no log. */
const LONGEST_LINE = 64 * 1024;

export interface OpenLog {
  /** The lines since the last call; `gap` where the ring overtook the reader. Throws where the log cannot be read any more. */
  read(): { readonly lines: readonly string[]; readonly gap: boolean };
  close(): void;
}

/** Opens a device, a file or a FIFO without waiting. Throws as the system does. */
export function openLog(path: string): OpenLog {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const buffer = Buffer.alloc(BUFFER_BYTES);
  let rest = '';
  return {
    read: () => {
      const lines: string[] = [];
      let gap = false;
      for (let reads = 0; reads < MOST_READS; reads += 1) {
        const got = readOnce(fd, buffer);
        if (got === 'nothing') break;
        if (got === 'gap') {
          gap = true;
          continue;
        }
        const parts = (rest + buffer.toString('utf8', 0, got)).split('\n');
        rest = (parts.pop() ?? '').slice(-LONGEST_LINE);
        lines.push(...parts);
      }
      return { lines, gap };
    },
    close: () => closeSync(fd),
  };
}

/** How many bytes came. EAGAIN: nothing now. EPIPE: records were overwritten before they were read; the next read goes on after them. */
function readOnce(fd: number, buffer: Buffer): number | 'nothing' | 'gap' {
  try {
    const bytes = readSync(fd, buffer, 0, buffer.length, null);
    return bytes === 0 ? 'nothing' : bytes;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EAGAIN') return 'nothing';
    if (code === 'EPIPE') return 'gap';
    throw error;
  }
}
