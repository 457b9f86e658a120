import { basename, join } from 'node:path';
import { build } from 'vite';

/** Bundles a TypeScript file with all its imports into one file that plain node runs without a build. Returns its path. */
export async function bundle(entry: string, folder: string): Promise<string> {
  const name = `${basename(entry, '.ts')}.mjs`;
  await build({
    configFile: false,
    logLevel: 'error',
    ssr: { noExternal: true },
    build: { ssr: entry, outDir: folder, emptyOutDir: false, rollupOptions: { output: { entryFileNames: name } } },
  });
  return join(folder, name);
}
