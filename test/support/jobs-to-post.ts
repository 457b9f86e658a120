/** Bodies for `POST /admit` that run on the test engine's image. */

export interface JobToPost {
  readonly run_id: string;
  readonly count: number;
  readonly container: Readonly<Record<string, unknown>>;
}

/** A job that sleeps until it is killed. */
export function jobToPost(runId: string, count = 1, container: Readonly<Record<string, unknown>> = {}): JobToPost {
  return { run_id: runId, count, container: { image: 'gate-test:latest', command: ['sleep', '600'], ...container } };
}
