import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { stopProcess } from '../stop-process.js';

/** A Redis server of its own: own port, own folder, without persistence unless requested. */
export interface TestRedis {
  readonly url: string;
  readonly port: number;
  /** Of the current or the last server. */
  readonly pid: number;
  /** SIGSTOP: it accepts connections and never answers. */
  pause(): void;
  /** SIGCONT: commands sent meanwhile are executed now. */
  resume(): void;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** Kills it if it runs, and starts it on the same port, empty. */
  restart(): Promise<void>;
  /** Saves its data now, so that `restartWithData` finds them. */
  save(): Promise<void>;
  /** The same as `restart`, with the data of the last `save`. */
  restartWithData(): Promise<void>;
  /** A client to inspect the keys; ended by `stop`. */
  client(): Redis;
  /** Ends the server and the clients and removes the folder. */
  stop(): Promise<void>;
}

/** Starts a Redis server and waits until it answers. `flags` go to the server: `['--requirepass', 'x']`. */
export async function startRedis(flags: readonly string[] = []): Promise<TestRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'redis-'));
  const port = await freePort();
  const clients: Redis[] = [];
  let server = await startServer(folder, port, flags);

  async function kill(): Promise<void> {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const exit = once(server, 'exit');
    server.kill('SIGKILL');
    await exit;
  }

  function client(): Redis {
    const made = new Redis(port, '127.0.0.1', { maxRetriesPerRequest: 3, ...passwordOf(flags) });
    made.on('error', () => undefined);
    clients.push(made);
    return made;
  }

  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    get pid() {
      return server.pid ?? 0;
    },
    pause: () => stopProcess(server.pid ?? 0),
    resume: () => void server.kill('SIGCONT'),
    kill,
    async restart() {
      await kill();
      rmSync(join(folder, 'dump.rdb'), { force: true });
      server = await startServer(folder, port, flags);
    },
    async save() {
      await client().save();
    },
    async restartWithData() {
      await kill();
      server = await startServer(folder, port, flags);
    },
    client,
    async stop() {
      for (const each of clients) each.disconnect();
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A port without a listener. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function passwordOf(flags: readonly string[]): { password?: string } {
  const password = flags[flags.indexOf('--requirepass') + 1];
  return flags.includes('--requirepass') && password !== undefined ? { password } : {};
}

async function startServer(folder: string, port: number, flags: readonly string[]): Promise<ChildProcess> {
  const fixed = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no'];
  const server = spawn('redis-server', [...fixed, ...flags], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  server.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  server.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const failed = once(server, 'error');
  const deadline = performance.now() + 10_000;
  while (!said.includes('Ready to accept connections')) {
    if (server.exitCode !== null || performance.now() > deadline) {
      server.kill('SIGKILL');
      throw new Error(`redis-server on port ${port} did not start; it said:\n${said}`);
    }
    await Promise.race([sleep(20), failed.then(([error]) => Promise.reject(error as Error))]);
  }
  said = '';
  return server;
}
