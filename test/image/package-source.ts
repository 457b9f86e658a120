import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Engine } from '../support/docker/engine.js';
import { cachedAt } from './cached-at.mjs';
import { PROJECT } from './project.js';

/** A package registry that a build on a test engine can reach, when it uses the engine's own network. */
export interface PackageSource {
  readonly url: string;
  stop(): void;
}

/**
 * Starts it with what this project's lock file names. The files come from npm's cache on this machine, where `npm ci` has
 * left them; those that are not there are fetched by npm first.
 */
export async function startPackageSource(engine: Engine): Promise<PackageSource> {
  const cache = (await npm('config', 'get', 'cache')).trim();
  const missing = installed().filter(({ integrity }) => !existsSync(join(cache, cachedAt(integrity))));
  if (missing.length > 0) await npm('cache', 'add', ...missing.map(({ name, version }) => `${name}@${version}`));
  const [command, ...argv] = engine.inside(process.execPath, PROGRAM, String(PORT), LOCK_FILE, cache);
  const program = spawn(command, argv, { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(program.stdout, 'data');
  return { url: `http://127.0.0.1:${PORT}/`, stop: () => program.stdin.end() };
}

/** The folder of this machine's npm: it is one program with all that it needs, and runs from anywhere. */
export function npmFolder(): string {
  const known =
    process.env['npm_execpath'] ?? join(dirname(process.execPath), '../lib/node_modules/npm/bin/npm-cli.js');
  return dirname(dirname(realpathSync(known)));
}

const PORT = 4873;
const PROGRAM = fileURLToPath(new URL('serve-packages.mjs', import.meta.url));
const LOCK_FILE = join(PROJECT, 'package-lock.json');

interface Installed {
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
}

/** What `npm ci` put here: of the lock file, what this kind of machine needs. */
function installed(): readonly Installed[] {
  const { packages } = JSON.parse(readFileSync(join(PROJECT, 'node_modules/.package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, Partial<Installed>>>;
  };
  return Object.entries(packages).flatMap(([place, { name, version = '', integrity }]) =>
    integrity === undefined ? [] : [{ name: name ?? place.split('node_modules/').at(-1) ?? '', version, integrity }],
  );
}

async function npm(...args: readonly string[]): Promise<string> {
  const cli = join(npmFolder(), 'bin/npm-cli.js');
  const { stdout } = await promisify(execFile)(process.execPath, [cli, ...args], { cwd: PROJECT });
  return stdout;
}
