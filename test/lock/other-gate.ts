import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { bundle } from '../support/running/bundle.js';

/** Another process that has opened a state folder, like a second gate. */
export interface OtherGate {
  /** The result: `open`, or the refusal's message. */
  readonly answer: { readonly kind: string; readonly instanceId?: string; readonly detail?: string };
  kill(): Promise<void>;
}

/** Bundles the program that opens a folder into one file and returns its path. */
export function buildOtherGate(outDir: string): Promise<string> {
  return bundle(join(import.meta.dirname, 'other-gate-program.ts'), outDir);
}

export async function startOtherGate(
  program: string,
  folder: string,
  user: { readonly uid?: number; readonly gid?: number } = {},
): Promise<OtherGate> {
  const child = spawn(process.execPath, [program, folder], { stdio: ['ignore', 'pipe', 'inherit'], ...user });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { answer: JSON.parse(line) as OtherGate['answer'], kill: () => kill(child) };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}
