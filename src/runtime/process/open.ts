/** The process runtime: jobs as plain processes of the gate's own user, and a claim file for each. */

import { randomBytes } from 'node:crypto';
import type { Books } from '../../model/ports/books.js';
import type { Hands } from '../../model/ports/hands.js';
import type { Endings } from '../../model/ports/line.js';
import type { Clock } from '../../model/ports/outside.js';
import { createProcessBooks } from './books.js';
import { claimsFolder, usableClaimsFolder } from './claims-folder.js';
import { createProcessHands } from './hands.js';
import { kernelName } from './kernel.js';
import { createLiveness } from './liveness.js';

export interface ProcessRuntimeOptions {
  /** All gates on this machine need the same folder, or they do not see each other's claims. Its parent must exist. */
  readonly folder: string;
  readonly clock: Clock;
  /** The gate's own environment, of which jobs inherit a few variables. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The pid scope of this kernel (kernel.ts); tests set another. */
  readonly kernel?: string;
}

export type ProcessRuntime =
  | { readonly kind: 'open'; readonly books: Books; readonly hands: Hands; readonly endings: Endings }
  /** What is wrong and what to do, for the operator. */
  | { readonly kind: 'refused'; readonly detail: string };

export async function openProcessRuntime(options: ProcessRuntimeOptions): Promise<ProcessRuntime> {
  const { folder, clock, environment } = options;
  const usable = await usableClaimsFolder(folder, clock.now());
  if (usable.kind === 'refused') return usable;
  let kernel: string;
  try {
    kernel = options.kernel ?? (await kernelName());
  } catch (error) {
    const why = (error as Error).message;
    return { kind: 'refused', detail: `the process runtime needs /proc to find its jobs: ${why}` };
  }
  const claims = claimsFolder(folder);
  const liveness = createLiveness(kernel);
  const listeners: ((id: string) => void)[] = [];
  const onEnd = (id: string): void => listeners.forEach((listener) => listener(id));
  return {
    kind: 'open',
    books: createProcessBooks({ claims, liveness, clock }),
    hands: createProcessHands({ claims, liveness, kernel, clock, environment, newId, onEnd }),
    endings: { onEnd: (listener) => void listeners.push(listener) },
  };
}

function newId(): string {
  return randomBytes(16).toString('hex');
}
