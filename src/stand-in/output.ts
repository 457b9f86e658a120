/** The output of a run, before delays and hangs are added. */
export interface Output {
  /** Heading line, if any. */
  header: string;
  /** Written one at a time. `card` is the position in the machine's list. */
  rows: readonly { card: number; text: string }[];
  /** Written after the rows. */
  end: string;
  rc: number;
}

/** A text that does not concern single cards, and the exit code. */
export function sentence(end: string, rc: number): Output {
  return { header: '', rows: [], end, rc };
}
