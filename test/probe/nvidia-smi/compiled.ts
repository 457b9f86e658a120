import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformWithOxc } from 'vite';

/** Writes `src/<file>.ts` as a module that plain node runs, beside it nothing but what is in packages. Gives its path. */
export async function compileFile(file: string, folder: string): Promise<string> {
  const source = fileURLToPath(new URL(`../../../src/${file}.ts`, import.meta.url));
  const { code } = await transformWithOxc(readFileSync(source, 'utf8'), source);
  const target = join(folder, `${file.replaceAll('/', '-')}.mjs`);
  writeFileSync(target, code.replaceAll(/(['"])execa\1/g, JSON.stringify(import.meta.resolve('execa'))));
  return target;
}

/** Writes the stand-in `nvidia-smi` so that plain node runs it, without a build of the project. Gives the path of its program. */
export async function compileStandIn(folder: string): Promise<string> {
  const source = fileURLToPath(new URL('../../../src/stand-in/', import.meta.url));
  const target = join(folder, 'stand-in');
  mkdirSync(target);
  writeFileSync(join(target, 'package.json'), '{"type":"module"}');
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  await Promise.all(
    files.map(async (name) => {
      const { code } = await transformWithOxc(readFileSync(join(source, name), 'utf8'), name);
      const written = join(target, name.replace(/\.ts$/, '.js'));
      mkdirSync(dirname(written), { recursive: true });
      writeFileSync(written, code);
    }),
  );
  return join(target, 'nvidia-smi.js');
}
