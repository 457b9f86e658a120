/** The programs that the tests need besides Node, and their installation. */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * @typedef {object} Need
 * @property {string} program
 * @property {string} package Debian's package that brings it.
 * @property {string} why
 * @property {boolean} [optional] The tests have a stand-in for it.
 */

/** Debian has Docker's client in a package of its own from 13 on. */
function clientPackage() {
  const debian = existsSync('/etc/debian_version') ? readFileSync('/etc/debian_version', 'utf8') : '';
  return Number.parseInt(debian, 10) >= 13 ? 'docker-cli' : 'docker.io';
}

/** @type {readonly Need[]} */
const NEEDS = [
  { program: 'dockerd', package: 'docker.io', why: 'the tests run containers in Docker Engines of their own' },
  { program: 'docker', package: clientPackage(), why: 'its pull is held beside the gate’s own' },
  { program: 'iptables', package: 'iptables', why: 'a Docker Engine does not start without it' },
  { program: 'busybox', package: 'busybox-static', why: 'a statically linked one is the image of the test containers' },
  {
    program: 'redis-server',
    package: 'redis-server',
    why: 'the lock is tested on Redis servers that get killed and frozen',
  },
  { program: 'promtool', package: 'prometheus', why: 'it judges the metrics page' },
  {
    program: 'prometheus-alertmanager',
    package: 'prometheus-alertmanager',
    why: 'the alerts are sent by it, from a broken card to a webhook',
  },
  { program: 'chromium', package: 'chromium', why: 'the page is looked at with it' },
  { program: 'openssl', package: 'openssl', why: 'it makes the certificates that the tests use' },
  { program: 'git', package: 'git', why: 'the architecture check lists the files of the repository' },
  {
    program: 'docker-registry',
    package: 'docker-registry',
    why: 'pulls with credentials are tested on it',
    optional: true,
  },
];

/**
 * Installs what is missing, where that is possible: as root on Debian. Null when all is there, otherwise a message for the
 * person who has to help.
 *
 * @returns {string | null}
 */
export function bringNeeds() {
  if (process.getuid?.() !== 0) return report(missing(), 'not root');
  if (missing().length > 0 && existsSync('/etc/debian_version') && find('apt-get') !== null) install(missing());
  const required = missing().filter((need) => need.optional !== true);
  if (required.length > 0) return report(required, 'root');
  return namespacesAllowed();
}

function missing() {
  return NEEDS.filter((need) => !isHere(need.program));
}

/** @param {string} program */
function isHere(program) {
  const path = find(program);
  if (path === null) return false;
  // A dynamically linked busybox cannot run in an image that contains nothing else.
  return program !== 'busybox' || !readFileSync(path).subarray(0, 4096).includes('/ld-');
}

/** @param {string} program */
function find(program) {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin'];
  return folders.map((folder) => join(folder, program)).find(isExecutable) ?? null;
}

/** @param {string} path */
function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** @param {readonly Need[]} needs */
function install(needs) {
  console.error(`Missing here and fetched from Debian now: ${packagesOf(needs).join(' ')}`);
  withoutStartingServices(() => {
    aptGet('update');
    const required = needs.filter((need) => need.optional !== true);
    const optional = needs.filter((need) => need.optional === true);
    for (const some of [required, optional]) {
      if (some.length > 0) aptGet('install', '-y', '--no-install-recommends', ...packagesOf(some));
    }
  });
}

/** @param {readonly Need[]} needs */
function packagesOf(needs) {
  return [...new Set(needs.map((need) => need.package))];
}

/** What failed is told by what is missing afterwards. @param {readonly string[]} args */
function aptGet(...args) {
  // On standard error: apt's output is not part of the test's result.
  spawnSync('apt-get', ['-qq', '-o', 'Dpkg::Use-Pty=0', ...args], {
    stdio: ['ignore', 2, 2],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
}

/**
 * Debian starts services on installation unless this file forbids it (invoke-rc.d(8)). The tests start their own servers,
 * and a machine's owner did not ask for a Docker Engine or a Redis.
 *
 * @param {() => void} work
 */
function withoutStartingServices(work) {
  const policy = '/usr/sbin/policy-rc.d';
  if (existsSync(policy)) return work();
  writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    work();
  } finally {
    rmSync(policy, { force: true });
  }
}

/** @returns {string | null} */
function namespacesAllowed() {
  const tried = spawnSync('unshare', ['-n', '-m', '-p', '--fork', 'true'], { encoding: 'utf8' });
  if (tried.status === 0) return null;
  const words = (tried.error?.message ?? tried.stderr).trim();
  return `The tests run Docker Engines of their own in namespaces of their own, and this machine does not allow that: ${words}`;
}

/**
 * @param {readonly Need[]} needs
 * @param {'root' | 'not root'} who
 */
function report(needs, who) {
  const width = Math.max(...needs.map((need) => need.program.length), 0);
  return [
    ...(who === 'root' ? [] : ['The tests must run as root: the Docker Engines that they start need it.']),
    ...(needs.length === 0 ? [] : ['The tests need programs that are not here:']),
    ...needs.map((need) => `  ${need.program.padEnd(width)}  ${need.why} (Debian: ${need.package})`),
    ...(needs.length === 0
      ? []
      : [`On Debian: apt-get update && apt-get install -y --no-install-recommends ${packagesOf(needs).join(' ')}`]),
  ].join('\n');
}
