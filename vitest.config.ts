import { defineConfig } from 'vitest/config';
import { SlowestFirst } from './test/support/running/slowest-first.js';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    // One more than the cores of a small machine: half of what they do is wait.
    maxWorkers: 3,
    sequence: { sequencer: SlowestFirst },
    // Real engines and real Redis servers: slow only where something is wrong, and then the limit says so.
    testTimeout: 60_000,
    hookTimeout: 90_000,
    teardownTimeout: 30_000,
    // What is kept in files is written by `npm run readme` alone: a test that finds none fails.
    update: 'none',
    expect: { poll: { timeout: 10_000, interval: 50 } },
    reporters: ['default', './test/support/running/closing-line.ts'],
  },
});
