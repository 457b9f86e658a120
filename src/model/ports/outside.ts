/** The clock and the log, handed in. */

/** The time, handed in. */
export interface Clock {
  /** Epoch milliseconds, for people and for labels. */
  now(): number;
  /** Milliseconds that never go back, for durations. */
  monotonic(): number;
  /** Calls `act` once when that many milliseconds have passed. Returns the way to call it off. */
  after(ms: number, act: () => void): () => void;
}

/** Structured log lines; the first argument is data, the second a plain sentence. */
export interface Log {
  debug(data: object, sentence: string): void;
  info(data: object, sentence: string): void;
  warn(data: object, sentence: string): void;
  error(data: object, sentence: string): void;
}
