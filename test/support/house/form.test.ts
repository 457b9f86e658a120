import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { badHeaders } from './headers.js';
import { badLogLines } from './log-lines.js';
import { readSource } from './source.js';
import { codesAnswered, keysRead } from './used-names.js';

/** The rules about the form of a file detect violations; the architecture test applies them to the repository. */

const root = new URL('../../../', import.meta.url);

describe('the form', () => {
  test.each([
    [
      'a header, a blank line and the rest',
      `/** What it answers. */\n\nimport './a.js';\nexport const b = 1;\nexport const c = 2;`,
    ],
    [
      'a program with its header below the line for the shell',
      `#!/usr/bin/env node\n/** What it does. */\n\nimport './a.js';`,
    ],
    ['imports, and what its one export says', `import './a.js';\n\n/** What it answers. */\nexport function b() {}`],
    ['nothing but its one export', `/** What it answers. */\nexport const b = 1;`],
    ['types beside its one value', `export type A = 1;\n\n/** What it answers. */\nexport function b() {}`],
  ])('a file may begin with %s', (_says, text) => expect(badHeaders([readSource('src/http/a.ts', text)])).toEqual([]));

  test.each([
    [
      'two exports and no header',
      `/** One. */\nexport const b = 1;\n/** Other. */\nexport const c = 2;`,
      'does not say',
    ],
    ['one export that says nothing', `import './a.js';\n\nexport function b() {}`, 'does not say'],
    ['a header that is no docstring', `// What it answers.\n\nexport function b() {}`, 'does not say'],
    [
      'a header without a blank line behind it',
      `/** What it answers. */\nimport './a.js';\nexport const b = 1;`,
      'does not say',
    ],
    [
      'a header below the imports',
      `import './a.js';\n\n/** What it answers. */\n\nexport const b = 1;\nexport const c = 2;`,
      'does not say',
    ],
    ['nothing at all', `import './a.js';`, 'does not say'],
    [
      'the same sentence twice',
      `/** What it answers. */\n\n/**\n * What it\n * answers: more.\n */\nexport function b() {}`,
      'again below: What it answers',
    ],
  ])('%s is told', (_says, text, words) => {
    expect(badHeaders([readSource('src/http/a.ts', text)])).toEqual([expect.stringContaining(words)]);
  });

  test.each([
    `log.info({ run_id: 'a', err }, 'a run has ended')`,
    `parts.log.warn({}, \`\${who} cannot be asked: \${why}\`)`,
    `log.info({}, 'Docker answers')`,
    `log.info({}, 'TUNEPLANE_X has no effect; v1.2 is out')`,
    `log.warn({}, sentence)`,
    `catalog.info({ runId: 1 }, 'Not a log.')`,
  ])('%s is a log line', (call) => expect(badLogLines([readSource('src/http/a.ts', call)])).toEqual([]));

  test.each([
    [`log.info({ runId: 'a' }, 'a')`, 'the key runId'],
    [`log.info({ runId }, 'a')`, 'the key runId'],
    [`this.log.debug({ a: { whyNot: 1 } }, 'a')`, 'the key whyNot'],
    [`log.info({}, 'A run has ended')`, 'A run has ended'],
    [`log.error({}, 'a run has ended.')`, 'a run has ended.'],
    [`log.error({}, \`a run. It has ended \${late}\`)`, 'a run. It has ended …'],
    [`log.error({}, \`\${a} has ended.\`)`, '… has ended.'],
    [`log.error({}, bad ? 'a' : 'Bad')`, 'Bad'],
    [`log.error({}, 'a is ' + 'bad.')`, 'a is bad.'],
    [`const warn = sayOnce(clock, 1, (s) => log.warn({}, s)); warn('The lock')`, 'The lock'],
  ])('%s is told', (call, words) => {
    expect(badLogLines([readSource('src/http/a.ts', call)])).toEqual([expect.stringContaining(words)]);
  });

  test('what is read, set and answered is found wherever it stands, and a mere mention is none', () => {
    const text = `parts.settings.a; const { b, c: d } = parts.settings; const e = 'settings.f'; mysettings.g;
      refuse('busy', {}); sendProblem(res, { code: late ? 'draining' : 'internal' }); const h = 'forbidden';`;
    const source = readSource('src/http/a.ts', text);
    expect([...keysRead('settings', [source])].toSorted()).toEqual(['a', 'b', 'c']);
    expect([...codesAnswered([source])].toSorted()).toEqual(['busy', 'draining', 'internal']);
  });

  test.each([
    [
      'a circle of values',
      'no-cycle',
      `import { b } from './b.js';\nexport const a = b;`,
      `import { a } from './a.js';\nexport const b = a;`,
    ],
    [
      'a circle of types',
      'no-cycle',
      `import type { B } from './b.js';\nexport type A = B;`,
      `import type { A } from './a.js';\nexport type B = A;`,
    ],
    [
      'a module imported twice',
      'no-duplicates',
      `import { b } from './b.js';\nimport type { B } from './b.js';\nexport const a: B = b;`,
      `export type B = 1;\nexport const b: B = 1;`,
    ],
    [
      'a type imported as if it were a value',
      'consistent-type-imports',
      `import { B } from './b.js';\nexport type A = B;`,
      `export type B = 1;`,
    ],
  ])('%s is told by the linter', (_says, rule, one, other) => {
    const folder = mkdtempSync(join(tmpdir(), 'lint-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'a.ts'), one);
    writeFileSync(join(folder, 'b.ts'), other);
    const linted = spawnSync(
      fileURLToPath(new URL('node_modules/.bin/oxlint', root)),
      ['-c', fileURLToPath(new URL('.oxlintrc.json', root)), '.'],
      { cwd: folder, encoding: 'utf8' },
    );
    expect(linted.stdout).toContain(rule);
    expect(linted.status).toBe(1);
  });
});
