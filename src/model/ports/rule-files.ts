/** The access files (tokens, policy), and how much of each is in force. */

/**
 * `as_written`: the whole file. `in_part`: without its invalid lines. `as_before`: the file is unusable, and its last good
 * content stays in force. `nothing`: the file is missing, empty or untrusted, and permits nobody anything.
 */
export type InForce = 'as_written' | 'in_part' | 'as_before' | 'nothing';

/** The state of one of them at its last check. */
export interface RuleFileStatus {
  /** Its kind, as `tokens` or `policy`; never its path, which is confidential. */
  readonly file: string;
  readonly inForce: InForce;
  /** Epoch milliseconds at which its complete content was last read and took effect. */
  readonly readAtMs: number;
}

export interface RuleFile {
  /** Checks whether the file has changed. Never rejects. */
  look(): Promise<void>;
  status(): RuleFileStatus;
}
