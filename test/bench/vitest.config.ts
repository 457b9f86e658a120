import { defineConfig } from 'vitest/config';

/** `npm run bench`: one file after another, with nothing else of ours running. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/bench/bench.ts'],
    pool: 'forks',
    maxWorkers: 1,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
    reporters: ['default'],
  },
});
