import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until the condition holds; throws after the time limit, so that a test fails with the given words. */
export async function until(what: string, truth: () => boolean | Promise<boolean>, ms = 10_000): Promise<void> {
  const deadline = performance.now() + ms;
  while (!(await truth())) {
    if (performance.now() > deadline) throw new Error(`Not within ${ms} ms: ${what}`);
    await sleep(10);
  }
}
