import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Engine } from '../support/docker/engine.js';
import { cachedAt } from './cached-at.mjs';
import { PROJECT } from './project.js';

/** A package registry that a build on a test engine can reach through the engine's own network. */
export interface PackageSource {
  readonly url: string;
  stop(): void;
}

/**
 * Starts it with the packages of this project's lock file. The files come from npm's cache on this machine, where `npm ci`
 * has left them; npm fetches missing ones first.
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

/** The folder of this machine's npm: it contains all its dependencies, and runs from any place. */
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

/** The packages that `npm ci` installed here: those in the lock file that apply to this platform. */
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
