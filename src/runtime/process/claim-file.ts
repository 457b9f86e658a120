/**
 * The format of a claim: one file per run, in a folder with the run's name. Its content never changes; its state is part of
 * the file's name, since a rename is atomic and only one of several rivals succeeds.
 */

import { z } from 'zod';

/** The state of a claim, as its file name encodes it. */
export type Standing =
  | { readonly kind: 'created' }
  /** Given to this process, the launcher. The kernel tells whether it lives. */
  | { readonly kind: 'run'; readonly kernel: string; readonly pid: number; readonly startTicks: string }
  | { readonly kind: 'removing' };

/** A started job, identified by what the kernel calls its launcher. */
export type StartedJob = Extract<Standing, { readonly kind: 'run' }>;

/** What the job is and which cards it has. */
export interface Claim {
  readonly id: string;
  readonly name: string;
  readonly createdAtMs: number;
  readonly labels: Readonly<Record<string, string>>;
  /** The program as a path, and its arguments. */
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  readonly workingDir: string;
}

/** The file name for a state. */
export function claimFileName(id: string, standing: Standing): string {
  if (standing.kind !== 'run') return `${id}.${standing.kind}`;
  return `${id}.run.${standing.kernel}.${standing.pid}.${standing.startTicks}`;
}

/** The id and the state in a file name; null for a file that is no claim. */
export function readClaimFileName(file: string): { readonly id: string; readonly standing: Standing } | null {
  const parts =
    /^(?<id>[0-9a-f]{32})\.(?:(?<plain>created|removing)|run\.(?<kernel>[0-9a-f]{32}-\d+)\.(?<pid>\d+)\.(?<ticks>\d+))$/.exec(
      file,
    )?.groups;
  if (parts === undefined) return null;
  const { id = '', plain, kernel = '', pid, ticks = '' } = parts;
  if (plain === 'created' || plain === 'removing') return { id, standing: { kind: plain } };
  return { id, standing: { kind: 'run', kernel, pid: Number(pid), startTicks: ticks } };
}

/** The files that the launcher writes beside the claim. */
export const BESIDE = {
  /** Standard output and standard error of the job. */
  output: (id: string): string => `${id}.output`,
  /** For people: the process group to send a signal to. */
  pid: (id: string): string => `${id}.pid`,
  /** The exit code; empty until the job's own process has ended. */
  exit: (id: string): string => `${id}.exit`,
} as const;

export function writeClaim(claim: Claim): string {
  return `${JSON.stringify({ version: 1, ...claim }, null, 1)}\n`;
}

/** Throws where the text is no claim, or another claim. */
export function readClaim(text: string, id: string): Claim {
  const parsed = shape.safeParse(JSON.parse(text));
  if (!parsed.success) throw new Error(`expected a claim: ${z.prettifyError(parsed.error)}`);
  const { version: _version, command, ...claim } = parsed.data;
  if (claim.id !== id) throw new Error(`expected the claim ${id}, got ${claim.id}`);
  const [program, ...rest] = command;
  return { ...claim, command: [program ?? '', ...rest] };
}

const shape = z.object({
  version: z.literal(1),
  id: z.string(),
  name: z.string(),
  createdAtMs: z.number(),
  labels: z.record(z.string(), z.string()),
  command: z.array(z.string()).min(1),
  env: z.record(z.string(), z.string()),
  workingDir: z.string(),
});
