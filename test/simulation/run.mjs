/** `npm run simulate`: builds the simulation with the product's own code into one file, and runs it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'vite';

const folder = resolve(mkdtempSync(join('node_modules', '.simulate-')));
try {
  await build({
    configFile: false,
    logLevel: 'error',
    build: {
      ssr: 'test/simulation/simulate.ts',
      outDir: folder,
      target: 'node20',
      minify: false,
      rollupOptions: { output: { entryFileNames: 'simulate.mjs' } },
    },
  });
  const { simulate } = await import(pathToFileURL(join(folder, 'simulate.mjs')).href);
  process.exitCode = await simulate(process.argv.slice(2));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
