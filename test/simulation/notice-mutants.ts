/** Applies each mutation of the list to a copy of the project, and runs the test that must detect it. */

import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { MUTANTS, type Mutant } from './mutants.js';

const COPIED = ['src', 'test', 'package.json', 'tsconfig.json', 'vitest.config.ts'];

/** How many go undetected, or no longer apply because their line is gone. Each is printed as soon as it is known. */
export function unnoticedMutants(name: string | null, seeds: number, tell: (line: string) => void): number {
  const chosen = MUTANTS.filter((mutant) => name === null || mutant.name === name);
  let unnoticed = 0;
  for (const mutant of chosen) {
    const notice = noticeIn(mutant, seeds);
    if (notice.kind !== 'noticed') unnoticed += 1;
    tell(`${notice.kind === 'noticed' ? 'noticed    ' : 'NOT NOTICED'}  ${mutant.name}: ${notice.how}`);
  }
  tell(`${chosen.length - unnoticed} of ${chosen.length} changes are noticed`);
  return unnoticed;
}

interface Notice {
  readonly kind: 'noticed' | 'unnoticed' | 'no_mutant';
  readonly how: string;
}

function noticeIn(mutant: Mutant, seeds: number): Notice {
  const folder = mkdtempSync(join(tmpdir(), 'mutant-'));
  try {
    for (const name of COPIED) cpSync(name, join(folder, name), { recursive: true });
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
    if (!change(mutant, folder)) return { kind: 'no_mutant', how: `its line does not stand once in ${mutant.file}` };
    return mutant.noticedBy === undefined ? bySeeds(folder, seeds) : byTest(mutant.noticedBy, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function change({ file, find, replace }: Mutant, folder: string): boolean {
  const path = join(folder, file);
  const parts = readFileSync(path, 'utf8').split(find);
  if (parts.length !== 2) return false;
  writeFileSync(path, parts.join(replace));
  return true;
}

function bySeeds(folder: string, seeds: number): Notice {
  const args = ['test/simulation/run.mjs', '--first', '--seeds', String(seeds)];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  const last = stdout.trim().split('\n').at(-1) ?? '';
  // Any other status than that of an offence means that the simulation could not run.
  if (status === 1) return { kind: 'noticed', how: last };
  return {
    kind: 'unnoticed',
    how: status === 0 ? `no offence in ${seeds} seeds` : `the simulation ended with ${status}`,
  };
}

function byTest({ file, test }: NonNullable<Mutant['noticedBy']>, folder: string): Notice {
  const pattern = test.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const args = ['node_modules/vitest/vitest.mjs', 'run', file, '-t', pattern, '--reporter=json'];
  const { stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  const { numFailedTests, numPassedTests } = JSON.parse(stdout.slice(stdout.indexOf('{'))) as Record<string, number>;
  if (numFailedTests === 1) return { kind: 'noticed', how: `${file}: ${test}` };
  return { kind: 'unnoticed', how: `${file}: ${numPassedTests} tests of this name pass: ${test}` };
}
