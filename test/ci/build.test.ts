import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

/** `.ci/build.mjs` with the real compiler, on a source of a few lines. */

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'build-'));
const project = join(folder, 'project');
const built = join(folder, 'built');

const SOURCE = {
  'src/cli/gpu-gate.ts': "#!/usr/bin/env node\nconsole.log('the first');\n",
  'src/stand-in/nvidia-smi.ts': '#!/usr/bin/env node\nexport {};\n',
  'src/page/client/main.ts': 'export {};\n',
  'src/page/client/index.html': '<!doctype html>\n',
  'src/page/client/page.css': ':root {}\n',
};

beforeAll(async () => {
  for (const each of ['.ci', 'package.json', 'tsconfig.json', 'tsconfig.build.json', 'src/page/client/tsconfig.json']) {
    cpSync(join(root, each), join(project, each), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(project, 'node_modules'));
  for (const [file, text] of Object.entries(SOURCE)) write(file, text);
  expect(await build()).toEqual({ exitCode: 0, said: '' });
  cpSync(project, built, { recursive: true, verbatimSymlinks: true });
});
beforeEach(() => {
  rmSync(project, { recursive: true });
  cpSync(built, project, { recursive: true, verbatimSymlinks: true });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(file: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(join(project, file)), { recursive: true });
  writeFileSync(join(project, file), text, { mode });
}

async function build() {
  const { exitCode, all } = await execa('node', ['.ci/build.mjs'], { cwd: project, reject: false, all: true });
  return { exitCode, said: all };
}
const says = (): string => execFileSync(join(project, 'dist/cli/gpu-gate.js'), { encoding: 'utf8' }).trim();
const besideDist = (): readonly string[] => readdirSync(project).filter((name) => name.startsWith('dist'));

describe('a build', () => {
  test('makes the programs, which can be run, and the page', () => {
    expect(says()).toBe('the first');
    expect(readdirSync(join(project, 'dist/page/client'))).toEqual(['index.html', 'main.js', 'page.css']);
    expect(besideDist()).toEqual(['dist']);
  });

  test('grows beside the one before, which can be started meanwhile, and takes its place', async () => {
    rmSync(join(project, 'node_modules'));
    const compiler = join(root, 'node_modules/.bin/tsc');
    write('node_modules/.bin/tsc', `#!/bin/sh\nnode dist/cli/gpu-gate.js >> meanwhile\nexec ${compiler} "$@"\n`, 0o755);
    symlinkSync(join(root, 'node_modules/@types'), join(project, 'node_modules/@types'));
    write('src/cli/gpu-gate.ts', "#!/usr/bin/env node\nconsole.log('the second');\n");
    expect(await build()).toEqual({ exitCode: 0, said: '' });
    expect(readFileSync(join(project, 'meanwhile'), 'utf8')).toBe('the first\nthe first\n');
    expect(says()).toBe('the second');
    expect(besideDist()).toEqual(['dist']);
  });

  test('that does not compile says why and leaves the one before, whole', async () => {
    write('src/cli/gpu-gate.ts', "#!/usr/bin/env node\nconsole.log('the second');\nconst count: number = 'two';\n");
    const failed = await build();
    expect(failed.exitCode).toBe(1);
    expect(failed.said).toContain("src/cli/gpu-gate.ts(3,7): error TS2322: Type 'string' is not assignable");
    expect(says()).toBe('the first');
    expect(besideDist()).toEqual(['dist']);
  });

  test('without a compiler says what is missing and leaves the one before', async () => {
    rmSync(join(project, 'node_modules'));
    const failed = await build();
    expect(failed.exitCode).toBe(1);
    expect(failed.said).toContain('the development packages are not installed; npm ci --include=dev');
    expect(says()).toBe('the first');
  });

  test('leaves out what is no longer in the source, and clears away what a build that was killed left', async () => {
    const { pid: dead } = spawnSync('true');
    const left = ['dist', `dist.${dead}`, `dist.${dead}.old`, `dist.${process.pid}`];
    for (const each of left) write(join(each, 'gone.js'), '');
    expect((await build()).exitCode).toBe(0);
    expect(readdirSync(join(project, 'dist'))).not.toContain('gone.js');
    expect(besideDist()).toEqual(['dist', `dist.${process.pid}`]);
  });

  test('and another at the same moment both end well, with a whole one in its place', async () => {
    const both = await Promise.all([build(), build()]);
    expect(both).toEqual(Array.from(both, () => ({ exitCode: 0, said: '' })));
    expect(says()).toBe('the first');
    expect(besideDist()).toEqual(['dist']);
  });
});
