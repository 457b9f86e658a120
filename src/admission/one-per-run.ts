/** Serializes the requests for one run within this process. */

export interface OnePerRun {
  /** Does the work once all earlier work for this run has ended, however it ended. */
  run<T>(runId: string, work: () => Promise<T>): Promise<T>;
  /** The number of requests that wait behind earlier work for their run. */
  readonly waiting: number;
}

/** First in, first out for each run; requests for different runs do not wait for each other. */
export function createOnePerRun(): OnePerRun {
  const last = new Map<string, Promise<unknown>>();
  let waiting = 0;
  return {
    async run(runId, work) {
      const before = last.get(runId);
      const mine = before === undefined ? work() : behind(before).then(work);
      last.set(runId, mine);
      try {
        return await mine;
      } finally {
        if (last.get(runId) === mine) last.delete(runId);
      }
    },
    get waiting() {
      return waiting;
    },
  };

  async function behind(before: Promise<unknown>): Promise<void> {
    waiting += 1;
    await before.catch(() => undefined);
    waiting -= 1;
  }
}
