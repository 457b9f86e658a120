import { defineConfig } from 'vitest/config';

/** `npm run bench`: one file, one after another, and nothing else on the machine from us. */
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
