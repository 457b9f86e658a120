import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Namespaces of network, mounts and processes. */
export interface Box {
  readonly initPid: number;
  readonly ended: Promise<unknown>;
  end(): void;
}

/**
 * Opens the box. Its first process ends when its standard input closes, and the kernel then kills all others: so nothing
 * outlives this process, however it ends. The shell around it removes the folder and the control groups.
 */
export async function startBox(folder: string): Promise<Box> {
  const first = 'mount -t proc proc /proc && busybox ip link set lo up && echo ready && exec cat >/dev/null';
  const script = `unshare -n -m -p --fork --kill-child docker-init -- sh -c '${first}'
    rm -rf "$0"
    find /sys/fs/cgroup -depth -type d -path "*/${basename(folder)}*" -exec rmdir {} + 2>/dev/null`;
  // Detached: a Ctrl-C in the terminal must not end the shell before it has cleaned up.
  const shell = spawn('sh', ['-c', script, folder], { stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  const ended = exitOf(shell);
  let said = '';
  shell.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await Promise.race([
    new Promise((resolve) => shell.stdout.once('data', resolve)),
    ended.then(() =>
      Promise.reject(new Error(`the test engine needs root, unshare, docker-init and busybox: ${said}`)),
    ),
  ]);
  const unshare = await onlyChild(shell.pid ?? 0);
  return { initPid: await onlyChild(unshare), ended, end: () => shell.stdin.end() };
}

/** A program that was started in the box. */
export interface Launched {
  /** Its pid outside the box; nsenter forks, so it is the child. */
  readonly pid: number;
  readonly ended: Promise<unknown>;
  signal(signal: NodeJS.Signals): void;
  /** Settles when it is gone; signal it first. */
  reaped(): Promise<void>;
}

/** Starts a program through nsenter, with its output in the file `log` and the folder's `bin` first on PATH. */
export async function launch(argv: readonly [string, ...string[]], log: string, folder: string): Promise<Launched> {
  const out = openSync(log, 'a');
  const env = { ...process.env, PATH: `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` };
  const child = spawn(argv[0], argv.slice(1), { stdio: ['ignore', out, out], env });
  closeSync(out);
  const ended = exitOf(child);
  const pid = await onlyChild(child.pid ?? 0);
  return {
    pid,
    ended,
    signal: (signal) => void process.kill(pid, signal),
    async reaped() {
      // nsenter stops itself when its child is stopped, and must be continued to see it end.
      const nudge = setInterval(() => child.kill('SIGCONT'), 20);
      await ended;
      clearInterval(nudge);
    },
  };
}

function exitOf(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve) => {
    child.once('exit', resolve);
    child.once('error', resolve);
  });
}

async function onlyChild(pid: number): Promise<number> {
  for (let tries = 0; tries < 500; tries += 1) {
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
    const child = Number(children.trim().split(' ')[0]);
    if (child > 0) return child;
    await sleep(10);
  }
  throw new Error(`process ${pid} started no other within 5 s`);
}
