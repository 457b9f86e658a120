/** `gpu-gate doctor`: whether this machine has what a gate with these settings needs, one line per check. */

import { examine, exitCodeOf, ok, warning, type Check, type Finding } from '../doctor/check.js';
import { checksOf } from '../doctor/checks.js';
import { parsePolicy } from '../policy/policy-file.js';
import { readSettings } from '../settings/settings.js';
import { systemClock } from '../time/system-clock.js';
import { say, sayJson } from './terminal/say.js';

export interface DoctorOptions {
  readonly json?: boolean;
  /** An image from which to start a test container with a card. */
  readonly tryImage?: string;
}

/** Prints every finding and sets the exit code: 0, 1 for warnings and checks that were not possible, 2 for errors. */
export async function doctor(flags: readonly string[], { json, tryImage }: DoctorOptions): Promise<void> {
  const findings = await findAll(flags, tryImage ?? null);
  if (json === true) sayJson(findings);
  else say(...findingLines(findings));
  process.exitCode = exitCodeOf(findings);
}

async function findAll(flags: readonly string[], tryImage: string | null): Promise<readonly Finding[]> {
  const read = readSettings(process.env, flags, { terminal: process.stderr.isTTY });
  if (read.kind === 'problems') {
    // Without valid settings, nothing else can be checked.
    const todo = 'gpu-gate serve --help lists them all; the other checks need valid settings';
    return read.problems.map((says) => ({ name: 'settings', state: 'error', says, todo }));
  }
  const settings: Check = {
    name: 'settings',
    limitMs: 1000,
    ask: async () =>
      read.warnings.length === 0
        ? ok('they can be used')
        : warning(read.warnings.join('; '), 'correct the environment of the gate, unless this is intended'),
  };
  const installation = { settings: read.settings, env: process.env, policyProblems, tryImage, clock: systemClock };
  return examine([settings, ...checksOf(installation)]);
}

function policyProblems(path: string, text: string): readonly string[] {
  const parsed = parsePolicy(path, text);
  return parsed.kind === 'bad' ? parsed.problems : [];
}

/** One line per finding with the advice below it, and a summary. */
export function findingLines(findings: readonly Finding[]): readonly string[] {
  const nameWidth = Math.max(...findings.map(({ name }) => name.length));
  const lines = findings.flatMap(({ name, state, says, todo }) => [
    `${state.padEnd('warning'.length)}  ${name.padEnd(nameWidth)}  ${says}`,
    ...(todo === null ? [] : [`${' '.repeat('warning'.length + 2 + nameWidth + 2)}-> ${todo}`]),
  ]);
  const count = (state: Finding['state']): number => findings.filter((finding) => finding.state === state).length;
  const bad = [
    [count('error'), 'wrong'],
    [count('warning'), 'to look at'],
    [count('unknown'), 'could not be seen'],
  ] as const;
  const parts = bad.filter(([number]) => number > 0).map(([number, words]) => `${number} ${words}`);
  return [...lines, '', parts.length === 0 ? 'all is well' : parts.join(', ')];
}
