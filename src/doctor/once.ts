/** Asks at the first call and gives every later call the same answer: for what several checks need. */
export function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | null = null;
  return () => (asked ??= ask());
}
