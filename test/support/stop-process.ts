/**
 * SIGSTOP takes effect a moment after it is sent: until then, the process may still answer a request that should get no
 * answer.
 */

import { readdirSync, readFileSync } from 'node:fs';

const PATIENCE_MS = 5000;

/** Stops a process and returns when each of its threads has stopped. Blocks for a few milliseconds. */
export function stopProcess(pid: number): void {
  process.kill(pid, 'SIGSTOP');
  const nap = new Int32Array(new SharedArrayBuffer(4));
  for (const patience = performance.now() + PATIENCE_MS; !hasStopped(pid); Atomics.wait(nap, 0, 0, 1)) {
    if (performance.now() > patience)
      throw new Error(`process ${pid} had not stopped within ${PATIENCE_MS} ms of SIGSTOP`);
  }
}

/** proc(5): the state follows the name in parentheses, `T` for stopped. A thread that has ended meanwhile no longer runs. */
function hasStopped(pid: number): boolean {
  return readdirSync(`/proc/${pid}/task`).every((thread) => {
    try {
      return /\) [TtZX] /.test(readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8'));
    } catch {
      return true;
    }
  });
}
