import { answer } from '../../src/stand-in/answer.js';
import type { Machine } from '../../src/stand-in/machine/machine.js';

/**
 * The stand-in's output on a machine, its exit code, and whether it hangs afterwards; `command` is without the program's
 * name.
 */
export function said(machine: Machine, command: string): { stdout: string; rc: number; hangs: boolean } {
  const { steps, rc } = answer(machine, command.split(' '), new Date(2026, 6, 14, 8, 12, 38, 696));
  const stdout = steps.map((step) => (step.kind === 'print' ? step.text : '')).join('');
  return { stdout, rc, hangs: steps.some(({ kind }) => kind === 'hang') };
}

/** The cells of a query's rows. */
export function cells(machine: Machine, fields: string, format = 'csv,noheader', about = 'gpu'): string[][] {
  const { stdout } = said(machine, `--query-${about}=${fields} --format=${format}`);
  return stdout
    .trimEnd()
    .split('\n')
    .map((row) => row.split(', '));
}
