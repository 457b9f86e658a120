/** The process runtime in a pid namespace of its own, as a gate in a container has it, together with its jobs. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import type { Books } from '../../src/model/ports/books.js';
import type { Hands } from '../../src/model/ports/hands.js';
import { namespaceIn } from '../../src/runtime/process/kernel.js';

export interface RuntimeInNamespace {
  readonly books: Books;
  readonly hands: Hands;
  /** The inode number of its pid namespace. */
  readonly namespace: string;
  /** Ends the namespace with everything in it. */
  end(): Promise<void>;
}

/**
 * Opens it on this folder. Rejects with the runtime's message where it refuses. `proc`: `own` as in a container; `outer`
 * keeps the /proc of the outer namespace mounted.
 */
export async function runtimeInNamespace(folder: string, proc: 'own' | 'outer' = 'own'): Promise<RuntimeInNamespace> {
  const flags = ['--pid', '--fork', '--kill-child', ...(proc === 'own' ? ['--mount-proc'] : [])];
  const child = spawn('unshare', [...flags, process.execPath, PROGRAM, folder], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  const end = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
    ends.delete(end);
  };
  ends.add(end);

  const { answer, ask } = questionsTo(child);
  const opened = (await answer()) as Opened;
  if (opened.kind === 'refused') {
    await end();
    throw new Error(opened.detail);
  }
  return { ...portsOver(ask), namespace: namespaceIn(opened.namespace) ?? '', end };
}

const PROGRAM = fileURLToPath(new URL('./runtime-in-namespace.mjs', import.meta.url));

type Opened =
  | { readonly kind: 'open'; readonly namespace: string }
  | { readonly kind: 'refused'; readonly detail: string };

type Ask = (part: 'books' | 'hands', method: string, args: readonly unknown[]) => Promise<never>;

const ends = new Set<() => Promise<void>>();

// Once per test file.
afterAll(() => Promise.all(Array.from(ends, (end) => end())));

/** One request at a time: its answer is the next line. */
function questionsTo({ stdin, stdout }: { readonly stdin: Writable; readonly stdout: Readable }): {
  readonly answer: () => Promise<unknown>;
  readonly ask: Ask;
} {
  stdin.on('error', () => undefined);
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  let last: Promise<unknown> = Promise.resolve();

  async function answer(): Promise<unknown> {
    const { done, value } = await lines.next();
    if (done === true) throw new Error('the namespace has ended');
    return JSON.parse(value);
  }
  async function askAfter(earlier: Promise<unknown>, question: object): Promise<unknown> {
    await earlier.catch(() => undefined);
    stdin.write(`${JSON.stringify(question)}\n`);
    return answer();
  }
  const ask: Ask = (part, method, args) => {
    last = askAfter(last, { part, method, args });
    return last as Promise<never>;
  };
  return { answer, ask };
}

function portsOver(ask: Ask): Pick<RuntimeInNamespace, 'books' | 'hands'> {
  return {
    books: {
      list: (...args) => ask('books', 'list', args),
      listRuns: (...args) => ask('books', 'listRuns', args),
      findRun: (...args) => ask('books', 'findRun', args),
      findLabelled: (...args) => ask('books', 'findLabelled', args),
      describe: (...args) => ask('books', 'describe', args),
      output: async () => ({ kind: 'gone' }),
      isCopy: (...args) => ask('books', 'isCopy', args),
    },
    hands: {
      ensureImage: (...args) => ask('hands', 'ensureImage', args),
      create: (...args) => ask('hands', 'create', args),
      compare: async () => ({ kind: 'as_asked' }),
      start: (...args) => ask('hands', 'start', args),
      remove: (...args) => ask('hands', 'remove', args),
      stop: (...args) => ask('hands', 'stop', args),
      giveUp: (...args) => ask('hands', 'giveUp', args),
    },
  };
}
