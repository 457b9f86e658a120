import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Engine } from '../support/docker/engine.js';
import { npmFolder } from './package-source.js';

/**
 * Imports an image that replaces the node image, under its tag: this machine's node and npm in the node image's paths,
 * Debian's programs for creating users, and busybox for the rest. npm uses the registry at `packagesUrl`.
 */
export async function importBaseImage(engine: Engine, tag: string, packagesUrl: string): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'gate-base-'));
  try {
    for (const folder of ['etc', 'tmp', 'root', 'proc', 'dev', 'sys', 'bin']) mkdirSync(join(root, folder));
    writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh\n');
    writeFileSync(join(root, 'etc/group'), 'root:x:0:\nnode:x:1000:\n');
    copyFileSync('/etc/login.defs', join(root, 'etc/login.defs'));
    copyFileSync('/usr/bin/busybox', join(root, 'bin/busybox'));
    for (const applet of APPLETS) symlink('/bin/busybox', join(root, applet));
    await addPrograms(root, [
      [process.execPath, '/usr/local/bin/node'],
      ['/usr/sbin/useradd', '/usr/sbin/useradd'],
      ['/usr/sbin/groupadd', '/usr/sbin/groupadd'],
      // As every Debian has it: util-linux is essential there.
      ['/usr/bin/flock', '/usr/bin/flock'],
    ]);
    cpSync(npmFolder(), join(root, 'usr/local/lib/node_modules/npm'), { recursive: true });
    for (const name of ['npm', 'npx']) {
      symlink(`../lib/node_modules/npm/bin/${name}-cli.js`, join(root, 'usr/local/bin', name));
    }
    writeAt(root, '/usr/local/etc/npmrc', `registry=${packagesUrl}\n`);
    await importFolder(engine, root, tag);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

const APPLETS = [
  ...['sh', 'cat', 'chmod', 'chown', 'cp', 'echo', 'id', 'ln', 'ls', 'mkdir', 'rm'].map((name) => `bin/${name}`),
  ...['env', 'find', 'test'].map((name) => `usr/bin/${name}`),
];

/** Each with its shared libraries. */
async function addPrograms(root: string, programs: readonly (readonly [from: string, to: string])[]): Promise<void> {
  for (const [from, to] of programs) {
    copyTo(root, realpathSync(from), to);
    const { stdout } = await promisify(execFile)('ldd', [from]);
    for (const [library] of stdout.matchAll(/(?<=\s)\/\S+/g)) copyTo(root, library, library);
  }
}

function copyTo(root: string, from: string, to: string): void {
  mkdirSync(dirname(join(root, to)), { recursive: true });
  copyFileSync(from, join(root, to));
}

function writeAt(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

function symlink(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
}

async function importFolder(engine: Engine, root: string, image: string): Promise<void> {
  const tar = spawn('tar', ['-C', root, '--owner=0', '--group=0', '-c', '.'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [repo, tag] = image.split(':');
  // Every node image sets it; without it only sh would be found.
  const changes = 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
  const answer = await engine.docker.importImage(tar.stdout, { repo, tag, changes });
  answer.resume();
  await once(answer, 'end');
  await engine.docker.getImage(image).inspect();
}
