/** What a run tells, before delays and hangs are put in. */
export interface Output {
  /** Heading line, if any. */
  header: string;
  /** Written one at a time. `card` is the place in the machine's list that the row is about. */
  rows: readonly { card: number; text: string }[];
  /** Written after the rows. */
  end: string;
  rc: number;
}

/** A text that is not about single cards, and the exit code. */
export function sentence(end: string, rc: number): Output {
  return { header: '', rows: [], end, rc };
}
