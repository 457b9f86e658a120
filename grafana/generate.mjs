// Writes what the code in grafana/ makes; with --check it only compares, and fails where they differ.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const here = dirname(fileURLToPath(import.meta.url));
const { module } = await runnerImport(join(here, 'generated-files.ts'), { configFile: false, logLevel: 'warn' });
const files = /** @type {typeof import('./generated-files.js')} */ (module).generatedFiles();

for (const [path, text] of files) {
  const place = join(here, path);
  if (existsSync(place) && readFileSync(place, 'utf8') === text) continue;
  if (process.argv.includes('--check')) {
    console.error(`grafana/${path} is not what the code makes: npm run grafana`);
    process.exitCode = 1;
  } else {
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, text);
    console.error(`grafana/${path} written`);
  }
}
