import { spawn } from 'node:child_process';
import { linkSync, mkdirSync, mkdtempSync, readFileSync, copyFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Docker from 'dockerode';
import { stopProcess } from '../stop-process.js';
import { launch, startBox, type Launched } from './engine-box.js';

/** The options of an engine; everything has a default. */
export interface EngineOptions {
  /** False: no `nvidia-container-runtime-hook` on PATH, so that the engine knows no driver for GPU requests. */
  readonly nvidiaHook?: boolean;
  /** More flags for dockerd. */
  readonly flags?: readonly string[];
}

/** A Docker Engine of its own: own folder, own network, own processes, removed without a trace at the end of the test. */
export interface Engine {
  readonly folder: string;
  readonly socketPath: string;
  /** For `DOCKER_HOST`. */
  readonly dockerHost: string;
  readonly docker: Docker;
  /** The local image: busybox, with `sh`, `sleep`, `cat`, `env` and the like. */
  readonly image: string;
  /** The pid of dockerd outside the box; null while it is down. */
  readonly pid: number | null;
  /** What the stand-in for NVIDIA's hook does at the next start of a container with cards. */
  hook(behaviour: 'pass' | 'hang' | { readonly failWith: string }): void;
  /** The environment of a running container's first process, from /proc. */
  environOf(containerId: string): Promise<Readonly<Record<string, string>>>;
  /** The arguments that run a program inside the engine's network, mounts and processes. */
  inside(...argv: readonly string[]): readonly [string, ...string[]];
  /**
   * SIGKILL to dockerd. Its containers live on until it is started again, and beyond that with the flag `--live-restore`.
   */
  kill(): Promise<void>;
  /** Ends dockerd (gracefully, if it runs) and starts it again. */
  restart(): Promise<void>;
  /** SIGSTOP: once this returns, it accepts connections and never answers. */
  pause(): void;
  resume(): void;
  /** The end of the log of dockerd. */
  logs(): string;
  /** Ends everything and removes the folder. */
  stop(): Promise<void>;
}

/** Starts a real Docker Engine in a box of its own, with the test image in it. Takes about a second. */
export async function startEngine(options: EngineOptions = {}): Promise<Engine> {
  const folder = mkdtempSync(join(tmpdir(), 'gate-engine-'));
  const box = await startBox(folder);
  writeHook(folder, options.nvidiaHook ?? true);
  const socketPath = join(folder, 'docker.sock');
  const docker = new Docker({ socketPath });
  const inside = (...argv: readonly string[]) =>
    ['nsenter', '-t', String(box.initPid), '-m', '-n', '-p', ...argv] as const;

  const containerd = await launch(inside(...containerdCommand(folder)), join(folder, 'containerd.log'), folder);
  let dockerd: Launched | null = null;
  const up = async () => {
    dockerd = await launch(inside(...dockerdCommand(folder, options.flags ?? [])), join(folder, 'dockerd.log'), folder);
    await untilItAnswers(docker, dockerd, folder);
  };
  const end = async (signal: NodeJS.Signals) => {
    if (dockerd === null) return;
    dockerd.signal('SIGCONT');
    dockerd.signal(signal);
    await dockerd.reaped();
    dockerd = null;
  };
  const stop = async () => {
    box.end();
    await Promise.all([box.ended, containerd.reaped(), dockerd?.reaped()]);
    rmSync(folder, { recursive: true, force: true });
  };

  try {
    await up();
    await importImage(docker, folder);
  } catch (error) {
    const words = logTail(folder);
    await stop();
    throw new Error(`the test engine did not start: ${String(error)}\n${words}`, { cause: error });
  }
  return {
    folder,
    socketPath,
    dockerHost: `unix://${socketPath}`,
    docker,
    image: IMAGE,
    get pid() {
      return dockerd?.pid ?? null;
    },
    hook: (behaviour) => setHook(folder, behaviour),
    environOf: async (id) => environOf(box.initPid, (await docker.getContainer(id).inspect()).State.Pid),
    inside,
    kill: () => end('SIGKILL'),
    restart: async () => {
      await end('SIGTERM');
      await up();
    },
    pause: () => {
      if (dockerd !== null) stopProcess(dockerd.pid);
    },
    resume: () => dockerd?.signal('SIGCONT'),
    logs: () => logTail(folder),
    stop,
  };
}

const IMAGE = 'gate-test:latest';
const APPLETS = [
  'sh',
  'sleep',
  'cat',
  'env',
  'true',
  'false',
  'ls',
  'echo',
  'id',
  'test',
  'touch',
  'wget',
  'nc',
  'mount',
  'kill',
  'trap',
];

// ---- the programs in it ----------------------------------------------------------------------------------------------------

/** A containerd beside dockerd: a killed dockerd does not restart with the one that it started itself. */
function containerdCommand(folder: string): readonly string[] {
  const at = (name: string) => join(folder, 'containerd', name);
  mkdirSync(at(''), { recursive: true });
  writeFileSync(
    at('config.toml'),
    `version = 2\nroot = "${at('root')}"\nstate = "${at('state')}"\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n[grpc]\naddress = "${at('sock')}"\n`,
  );
  return ['containerd', '--config', at('config.toml')];
}

function dockerdCommand(folder: string, flags: readonly string[]): readonly string[] {
  const at = (name: string) => join(folder, name);
  const own = {
    '--data-root': at('data'),
    '--exec-root': at('exec'),
    '--pidfile': at('dockerd.pid'),
    '--containerd': at('containerd/sock'),
  };
  rmSync(at('dockerd.pid'), { force: true });
  const all = { '--host': `unix://${at('docker.sock')}`, ...own, '--cgroup-parent': `/${basename(folder)}` };
  return ['dockerd', ...Object.entries(all).map(([flag, value]) => `${flag}=${value}`), ...flags];
}

async function untilItAnswers(docker: Docker, dockerd: Launched, folder: string): Promise<void> {
  let gone = false;
  void dockerd.ended.then(() => (gone = true));
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; await sleep(20)) {
    if (gone) throw new Error(`dockerd ended at once\n${logTail(folder)}`);
    const answered = await docker.listContainers({ abortSignal: AbortSignal.timeout(2000) }).catch(() => null);
    if (answered !== null) return;
  }
  throw new Error('dockerd did not answer within 30 s');
}

function logTail(folder: string): string {
  try {
    return readFileSync(join(folder, 'dockerd.log'), 'utf8').slice(-4000);
  } catch {
    return '(no log)';
  }
}

async function importImage(docker: Docker, folder: string): Promise<void> {
  const root = join(folder, 'image');
  for (const name of ['bin', 'etc', 'tmp', 'proc', 'dev', 'sys']) mkdirSync(join(root, name), { recursive: true });
  copyFileSync('/usr/bin/busybox', join(root, 'bin/busybox'));
  for (const applet of APPLETS) linkSync(join(root, 'bin/busybox'), join(root, 'bin', applet));
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0:root:/:/bin/sh\nworker:x:1000:1000:worker:/:/bin/sh\n');
  const tar = spawn('tar', ['-C', root, '-c', '.'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [repo, tag] = IMAGE.split(':');
  const stream = await docker.importImage(tar.stdout, { repo, tag });
  stream.resume();
  await new Promise((resolve, reject) => stream.once('end', resolve).once('error', reject));
  await docker.getImage(IMAGE).inspect();
}

// ---- the stand-in for NVIDIA's hook ---------------------------------------------------------------------------------------

function writeHook(folder: string, present: boolean): void {
  mkdirSync(join(folder, 'bin'));
  if (!present) return;
  const script = `#!/bin/sh
while [ -e '${folder}/hook-hangs' ]; do sleep 0.05; done
[ -e '${folder}/hook-fails' ] && { cat '${folder}/hook-fails' >&2; exit 1; }
exit 0
`;
  writeFileSync(join(folder, 'bin/nvidia-container-runtime-hook'), script, { mode: 0o755 });
}

function setHook(folder: string, behaviour: 'pass' | 'hang' | { readonly failWith: string }): void {
  for (const name of ['hook-hangs', 'hook-fails']) rmSync(join(folder, name), { force: true });
  if (behaviour === 'hang') writeFileSync(join(folder, 'hook-hangs'), '');
  else if (behaviour !== 'pass') writeFileSync(join(folder, 'hook-fails'), behaviour.failWith);
}

/**
 * The engine reports pids of its own pid namespace. It answers a start a moment before the program replaces runc, whose
 * environment is another.
 */
async function environOf(initPid: number, pid: number): Promise<Readonly<Record<string, string>>> {
  const place = `/proc/${initPid}/root/proc/${pid}`;
  for (let tries = 0; tries < 500 && (await readFile(`${place}/comm`, 'utf8')).startsWith('runc'); tries += 1) {
    await sleep(10);
  }
  const text = await readFile(`${place}/environ`, 'utf8');
  const pairs = text.split('\0').filter((pair) => pair.includes('='));
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]));
}
