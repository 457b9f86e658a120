/** The clock and the log, passed in as arguments. */

/** The time, passed in as an argument. */
export interface Clock {
  /** Epoch milliseconds, for people and for labels. */
  now(): number;
  /** Milliseconds that never go back, for durations. */
  monotonic(): number;
  /** Calls `act` once after that many milliseconds. Returns the function that cancels it. */
  after(ms: number, act: () => void): () => void;
}

/** Structured log lines; the first argument is data, the second a plain sentence. */
export interface Log {
  debug(data: object, sentence: string): void;
  info(data: object, sentence: string): void;
  warn(data: object, sentence: string): void;
  error(data: object, sentence: string): void;
}
