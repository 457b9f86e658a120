/** The files that say who may do what, and how much of each is in force. */

/**
 * `as_written`: all of the file. `in_part`: without the lines that cannot be read. `as_before`: the file cannot be used, and what
 * it said last stays. `nothing`: the file is gone, empty or not to be trusted, and nobody may do anything by it.
 */
export type InForce = 'as_written' | 'in_part' | 'as_before' | 'nothing';

/** One of them, as it was last looked at. */
export interface RuleFileStatus {
  /** What the file is, as `tokens` or `policy`; never its path, which is nobody's business. */
  readonly file: string;
  readonly inForce: InForce;
  /** Epoch milliseconds at which all of it was last read and came into force. */
  readonly readAtMs: number;
}

export interface RuleFile {
  /** Looks whether the file has changed. Never rejects. */
  look(): Promise<void>;
  status(): RuleFileStatus;
}
