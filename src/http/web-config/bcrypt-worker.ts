/** The thread of `bcrypt-thread.ts`: one comparison at a time, in order. */

import { parentPort } from 'node:worker_threads';
import { compareSync } from 'bcryptjs';

parentPort?.on('message', ({ number, password, hash }: { number: number; password: string; hash: string }) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage({ number, verdict: compareSync(password, hash) });
});
