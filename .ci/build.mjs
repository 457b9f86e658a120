// Builds dist from src, in a folder beside dist that replaces it when complete: a failed build leaves the old one in place,
// and a process that starts meanwhile finds either of them.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, readdirSync, renameSync, rmSync, utimesSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

process.chdir(dirname(dirname(fileURLToPath(import.meta.url))));

const COMPILER = 'node_modules/.bin/tsc';
const PAGE = 'src/page/client';
const began = new Date();
const fresh = `dist.${process.pid}`;

clearLeftOvers();
if (!existsSync(COMPILER)) {
  console.error(
    `there is no compiler (${COMPILER}): the development packages are not installed; npm ci --include=dev --ignore-scripts brings them`,
  );
  process.exitCode = 1;
} else {
  try {
    if (compile()) putInPlace();
    else process.exitCode = 1;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** Whether everything compiled; the compiler prints the errors. */
function compile() {
  const compiled =
    tsc('-p', 'tsconfig.build.json', '--outDir', fresh) &&
    tsc('-p', PAGE, '--noEmit', 'false', '--outDir', `${fresh}/page/client`);
  if (!compiled) return false;
  for (const file of readdirSync(PAGE).filter((name) => /\.(html|css)$/.test(name))) {
    cpSync(`${PAGE}/${file}`, `${fresh}/page/client/${file}`);
  }
  for (const program of ['stand-in/nvidia-smi.js', 'cli/gpu-gate.js']) chmodSync(`${fresh}/${program}`, 0o755);
  // `.ci/ready` compares src with this file: sources that changed while the compiler ran are newer.
  utimesSync(`${fresh}/cli/gpu-gate.js`, began, began);
  return true;
}

/** @param {readonly string[]} args */
function tsc(...args) {
  return spawnSync(COMPILER, args, { stdio: 'inherit' }).status === 0;
}

/**
 * A folder cannot be renamed onto a full one: the old one is moved aside first. Another build may do the same at this
 * moment.
 */
function putInPlace() {
  const old = `${fresh}.old`;
  for (;;) {
    try {
      renameSync(fresh, 'dist');
      rmSync(old, { recursive: true, force: true });
      return;
    } catch (error) {
      if (!is(error, 'ENOTEMPTY', 'EEXIST')) throw error;
    }
    rmSync(old, { recursive: true, force: true });
    try {
      renameSync('dist', old);
    } catch (error) {
      if (!is(error, 'ENOENT')) throw error;
    }
  }
}

/** @param {unknown} error @param {readonly string[]} codes */
function is(error, ...codes) {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

/** Removes folders of killed builds, but not those of running ones. */
function clearLeftOvers() {
  for (const name of readdirSync('.')) {
    const [, pid] = /^dist\.(\d+)(?:\.old)?$/.exec(name) ?? [];
    if (pid !== undefined && !runs(Number(pid))) rmSync(name, { recursive: true, force: true });
  }
}

/** @param {number} pid */
function runs(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return is(error, 'EPERM');
  }
}
