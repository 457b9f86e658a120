/** The process runtime in a pid namespace of its own, as a gate in a container has it; its jobs are in there with it. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import type { Books } from '../../src/model/ports/books.js';
import type { Hands } from '../../src/model/ports/hands.js';

export interface RuntimeInNamespace {
  readonly books: Books;
  readonly hands: Hands;
  /** The inode number of its pid namespace. */
  readonly namespace: string;
  /** Ends the namespace, and with it all that is in there. */
  end(): Promise<void>;
}

const PROGRAM = fileURLToPath(new URL('./runtime-in-namespace.mjs', import.meta.url));

const running = new Set<RuntimeInNamespace>();

// For the file that imports this one.
afterAll(() => Promise.all(Array.from(running, (runtime) => runtime.end())));

/**
 * Opens it on this folder. Rejects with the runtime's own words where it refuses. `proc`: `own` as a container has it; `outer`
 * leaves the /proc of the namespace around it in place.
 */
export async function runtimeInNamespace(folder: string, proc: 'own' | 'outer' = 'own'): Promise<RuntimeInNamespace> {
  const flags = ['--pid', '--fork', '--kill-child', ...(proc === 'own' ? ['--mount-proc'] : [])];
  const child = spawn('unshare', [...flags, process.execPath, PROGRAM, folder], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  child.stdin.on('error', () => undefined);
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<unknown> => {
    const { done, value } = await answers.next();
    if (done === true) throw new Error('the namespace has ended');
    return JSON.parse(value);
  };
  const end = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
    running.delete(runtime);
  };

  let last: Promise<unknown> = Promise.resolve();
  const ask = (part: 'books' | 'hands', method: string, args: readonly unknown[]): Promise<never> => {
    const answer = last.then(() => {
      child.stdin.write(`${JSON.stringify({ part, method, args })}\n`);
      return next();
    });
    last = answer.catch(() => undefined);
    return answer as Promise<never>;
  };
  const opened = (await next()) as { kind: 'open'; namespace: string } | { kind: 'refused'; detail: string };
  const runtime: RuntimeInNamespace = {
    books: {
      list: (...args) => ask('books', 'list', args),
      listRuns: (...args) => ask('books', 'listRuns', args),
      findRun: (...args) => ask('books', 'findRun', args),
      findLabelled: (...args) => ask('books', 'findLabelled', args),
      isCopy: (...args) => ask('books', 'isCopy', args),
      describe: (...args) => ask('books', 'describe', args),
    },
    hands: {
      ensureImage: (...args) => ask('hands', 'ensureImage', args),
      create: (...args) => ask('hands', 'create', args),
      start: (...args) => ask('hands', 'start', args),
      remove: (...args) => ask('hands', 'remove', args),
      giveUp: (...args) => ask('hands', 'giveUp', args),
    },
    namespace: opened.kind === 'open' ? (/\d+/.exec(opened.namespace)?.[0] ?? '') : '',
    end,
  };
  running.add(runtime);
  if (opened.kind === 'open') return runtime;
  await end();
  throw new Error(opened.detail);
}
