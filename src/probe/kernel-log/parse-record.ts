/** Parses one line of the kernel's log, in the format of `/dev/kmsg` or of a log file. */

export interface KernelRecord {
  /** Increases with every record of one boot: the sequence number, or else the time stamp. Null where there is neither. */
  readonly order: number | null;
  readonly text: string;
}

/**
 * Reads `6,2017,1080177925,-;text` (priority, sequence, microseconds, flags; see the kernel's
 * Documentation/ABI/testing/dev-kmsg) or `[ 1080.177925] text`. Null for a continuation (` KEY=value`) and a blank line. What the kernel
 * escapes (`\x0a`) is put back.
 */
export function parseRecord(line: string): KernelRecord | null {
  if (line === '' || line.startsWith(' ')) return null;
  const record = /^\d+,(\d+),\d+,[^;]*;([^]*)$/.exec(line);
  if (record !== null) return { order: Number(record[1]), text: unescaped(record[2] ?? '') };
  const dmesg = /^(?:<\d+>)?\[\s*(\d+)\.(\d{6})\]\s?([^]*)$/.exec(line);
  if (dmesg !== null) return { order: Number(dmesg[1]) * 1_000_000 + Number(dmesg[2]), text: dmesg[3] ?? '' };
  return { order: null, text: line };
}

function unescaped(text: string): string {
  return text.replaceAll(/\\x([0-9a-f]{2})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
