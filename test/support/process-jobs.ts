import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, vi } from 'vitest';
import { readClaimFileName, type Standing } from '../../src/runtime/process/claim-file.js';
import { endJobsNow } from '../../src/runtime/process/end-jobs.js';
import { openProcessRuntime, type ProcessRuntime } from '../../src/runtime/process/open.js';
import { systemClock } from '../../src/time/system-clock.js';

/** A new folder for claims. At the end of the test file the jobs in it are killed, and it is removed. */
export function newClaimsFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'claims-'));
  folders.push(folder);
  return folder;
}

const folders: string[] = [];

// For the file that imports this one.
afterAll(() => {
  for (const folder of folders) {
    endJobsNow(folder);
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
});

/** The process runtime on this folder, as one gate of several may have it open. */
export async function processRuntime(
  folder: string,
  more: { kernel?: string; environment?: Record<string, string> } = {},
): Promise<Extract<ProcessRuntime, { kind: 'open' }>> {
  const opened = await openProcessRuntime({ folder, clock: systemClock, environment: process.env, ...more });
  if (opened.kind === 'refused') throw new Error(opened.detail);
  return opened;
}

export interface FoundClaim {
  readonly id: string;
  readonly name: string;
  readonly standing: Standing;
  /** The start of the paths of its files. */
  readonly prefix: string;
}

/** The claims as their files stand, read without any of the runtime's own ways. */
export function claimsIn(folder: string): readonly FoundClaim[] {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => !name.startsWith('.')) : [];
  return names.flatMap((name) =>
    readdirSync(join(folder, name)).flatMap((file) => {
      const read = readClaimFileName(file);
      return read === null ? [] : [{ ...read, name, prefix: join(folder, name, read.id) }];
    }),
  );
}

/** Sends the signal to a job's group until its launcher has written how it ended. */
export async function endJob(folder: string, id: string, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  await vi.waitFor(
    () => {
      const { standing, prefix } = claimsIn(folder).find((claim) => claim.id === id) ?? {};
      if (standing?.kind !== 'run') throw new Error(`${id} does not run`);
      // Not before the launcher hears signals.
      if (existsSync(`${prefix}.pid`) && !existsSync(`${prefix}.exit`)) process.kill(-standing.pid, signal);
      expect(readFileSync(`${prefix}.exit`, 'utf8')).toMatch(/^\d+\n$/);
    },
    { timeout: 10_000, interval: 20 },
  );
}
