import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, vi } from 'vitest';
import type { RunDetails } from '../../src/model/ports/books.js';
import type { ContainerState, Probed, SeenContainer } from '../../src/model/snapshot.js';
import { readClaimFileName, type Standing } from '../../src/runtime/process/claim-file.js';
import { endJobsNow } from '../../src/runtime/process/end-jobs.js';
import { openProcessRuntime, type ProcessRuntime } from '../../src/runtime/process/open.js';
import { systemClock } from '../../src/time/system-clock.js';
import { grantOf, job, plainRequest } from './jobs.js';

/** A new folder for claims. At the end of the test file, its jobs are killed and it is removed. */
export function newClaimsFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'claims-'));
  folders.push(folder);
  return folder;
}

const folders: string[] = [];

// Once per test file.
afterAll(() => {
  for (const folder of folders) {
    endJobsNow(folder);
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
});

/** The process runtime on this folder, as one of several gates opens it. */
export async function processRuntime(
  folder: string,
  more: { kernel?: string; environment?: Record<string, string> } = {},
): Promise<Extract<ProcessRuntime, { kind: 'open' }>> {
  const opened = await openProcessRuntime({ folder, clock: systemClock, environment: process.env, ...more });
  if (opened.kind === 'refused') throw new Error(opened.detail);
  return opened;
}

/** The operations of a runtime that tests use, whether it is in this process or in another namespace. */
export type Runtime = Pick<Extract<ProcessRuntime, { kind: 'open' }>, 'books' | 'hands'>;

/** Creates a job without starting it; returns its id. */
export async function createJob(
  { hands }: Runtime,
  runId: string,
  command: readonly string[],
  cards: readonly number[] = [0],
): Promise<string> {
  const spec = job(runId, plainRequest('', { command, env: { EPOCHS: '3' } }), cards.length);
  const answer = await hands.create(spec, grantOf(...cards));
  if (answer.kind !== 'created') throw new Error(`expected "created", got ${JSON.stringify(answer)}`);
  return answer.id;
}

/** Creates a job and starts it. */
export async function startJob(
  runtime: Runtime,
  runId: string,
  command: readonly string[],
  cards: readonly number[] = [0],
): Promise<string> {
  const id = await createJob(runtime, runId, command, cards);
  expect(await runtime.hands.start(id)).toEqual({ kind: 'started' });
  return id;
}

/** The job in the list of all runs; null where it is missing. */
export async function seenAs({ books }: Runtime, id: string): Promise<SeenContainer | null> {
  const list = await books.listRuns();
  if (list.kind === 'blind') throw new Error(list.detail);
  return list.value.containers.find((one) => one.id === id) ?? null;
}

export async function stateOf(runtime: Runtime, id: string): Promise<ContainerState | null> {
  return (await seenAs(runtime, id))?.state ?? null;
}

export async function becomes(runtime: Runtime, id: string, state: ContainerState | null): Promise<void> {
  await vi.waitFor(async () => expect(await stateOf(runtime, id)).toBe(state), { timeout: 10_000, interval: 20 });
}

/** The details of a listed job. */
export async function describeJob(runtime: Runtime, id: string): Promise<Probed<RunDetails | null>> {
  const container = await seenAs(runtime, id);
  if (container === null) throw new Error(`${id} is not listed`);
  return runtime.books.describe(container);
}

export interface FoundClaim {
  readonly id: string;
  readonly name: string;
  readonly standing: Standing;
  /** The prefix of the paths of its files. */
  readonly prefix: string;
}

/** The claims in the folder, read without any code of the runtime. */
export function claimsIn(folder: string): readonly FoundClaim[] {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => !name.startsWith('.')) : [];
  return names.flatMap((name) =>
    readdirSync(join(folder, name)).flatMap((file) => {
      const read = readClaimFileName(file);
      return read === null ? [] : [{ ...read, name, prefix: join(folder, name, read.id) }];
    }),
  );
}

export function claimOf(folder: string, id: string): FoundClaim {
  const found = claimsIn(folder).find((one) => one.id === id);
  if (found === undefined) throw new Error(`there is no claim ${id}`);
  return found;
}

/** Sends the signal to a job's process group until its launcher has recorded how it ended. */
export async function endJob(folder: string, id: string, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  await vi.waitFor(
    () => {
      const { standing, prefix } = claimsIn(folder).find((claim) => claim.id === id) ?? {};
      if (standing?.kind !== 'run') throw new Error(`${id} does not run`);
      // Not before the launcher traps signals.
      const hasEnded = (): boolean => /^\d+\n$/.test(readFileSync(`${prefix}.exit`, 'utf8'));
      if (existsSync(`${prefix}.pid`) && !hasEnded()) process.kill(-standing.pid, signal);
      expect(hasEnded()).toBe(true);
    },
    { timeout: 10_000, interval: 20 },
  );
}
