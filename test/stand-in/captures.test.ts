import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { answer } from '../../src/stand-in/answer.js';
import { readMachine } from '../../src/stand-in/machine/read-machine.js';
import { machineOf, scenarioNames } from './scenarios.js';

/** One run of the real program. `rc` is a sentence where the run hung and was killed. */
interface Capture {
  driver: string;
  scenario: string;
  command: string;
  argv: string;
  rc: number | string;
  stdout: string;
}

const OURS = fileURLToPath(new URL('fixtures/captures.jsonl', import.meta.url));
/** The whole collection, where this checkout lies beside it. */
const ALL = fileURLToPath(new URL('../../../shared/nvidia-smi/captures.jsonl', import.meta.url));

const collections: [name: string, path: string][] = [
  ['our own captures', OURS],
  ['all captures', ALL],
];

describe.each(collections.filter(([, path]) => existsSync(path)))('by %s', (_name, path) => {
  const captures = capturesIn(path);
  const pairs = new Set(captures.map(({ scenario, driver }) => `${scenario} on ${driver}`));

  test.each([...pairs])('the stand-in prints every byte of %s, and exits as the real program did', (pair) => {
    const runs = captures.filter(({ scenario, driver }) => `${scenario} on ${driver}` === pair);
    const real = runs.map(({ command, rc, stdout }) => ({
      command,
      rc: typeof rc === 'number' ? rc : 'hangs',
      stdout,
    }));
    expect(runs.map((run) => played(run))).toEqual(real);
  });

  test('there are runs of every scenario of the table', () => {
    expect([...new Set(captures.map(({ scenario }) => scenario))].toSorted()).toEqual(scenarioNames().toSorted());
  });
});

function played({ scenario, driver, command, argv }: Capture): {
  command: string;
  rc: number | 'hangs';
  stdout: string;
} {
  const built = machineOf(scenario, driver);
  if (built === null) throw new Error(`test/stand-in/scenarios.ts has no machine for ${scenario}`);
  // Through the file's form and back, so that the reader is held to every scenario too.
  const machine = readMachine(JSON.stringify(built));
  const { steps, rc } = answer(machine, argv.split(' ').slice(1), new Date(0));
  const stdout = steps.map((step) => (step.kind === 'print' ? step.text : '')).join('');
  return { command, rc: steps.at(-1)?.kind === 'hang' ? 'hangs' : rc, stdout };
}

function capturesIn(path: string): Capture[] {
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Capture);
}
