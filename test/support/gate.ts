import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import type { z } from 'zod';
import { cardsShape } from '../../src/cards/card-shape.js';
import { defaultMachine } from '../../src/stand-in/machine/build-machine.js';
import type { Machine } from '../../src/stand-in/machine/machine.js';
import { putMachine, putStandIn, replace } from './cached-stand-in.js';
import { call, type Answer, type Call, type TlsTexts } from './call.js';
import { parseMetrics, type MetricsPage } from './metrics-page.js';
import { freePort } from './services/redis.js';

/** The `nvidia-smi` on PATH: the stand-in, nothing at all, or a shell script. */
export type NvidiaSmi = 'stand-in' | 'none' | { readonly script: string };

/** The options of a gate; everything has a default. */
export interface GateOptions {
  /** Default: an address without a Docker Engine; never the machine's own. */
  readonly engine?: { readonly dockerHost: string };
  readonly redisUrl?: string;
  /** The machine that the stand-in simulates; by default eight idle H100 in two islands. */
  readonly machine?: Machine;
  readonly nvidiaSmi?: NvidiaSmi;
  /** The state folder; a new one by default. */
  readonly stateDir?: string;
  /** Settings by name; they override everything set here. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
  /** More addresses for `TUNEPLANE_LISTEN`, as `unix:/path`, besides the one in `url`. */
  readonly alsoListen?: readonly string[];
  /** Sent with every request that has no `authorization` of its own. */
  readonly token?: string;
  /** True: without root's capability to bypass file permissions. */
  readonly heedsModes?: boolean;
  /** True: in a pid namespace of its own, as in a container. Whatever it started ends with it. */
  readonly ownPidNamespace?: boolean;
  /** Set where its settings make it speak TLS: how it is asked then. */
  readonly tls?: TlsTexts;
  /** The most descriptors that it may have open. */
  readonly descriptors?: number;
}

/** How a process ended: one of the two is null. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The real compiled gate as a process of its own. */
export interface Gate {
  readonly url: string;
  readonly pid: number;
  readonly stateDir: string;
  /** Settles when the process has ended. */
  readonly exited: Promise<Exit>;
  call(path: string, how?: Call): Promise<Answer>;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** A body that is no string is sent as JSON. */
  post(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** `GET /cards`, validated against its schema. */
  cards(): Promise<z.infer<typeof cardsShape>>;
  /** `GET /metrics`, parsed. */
  metrics(): Promise<MetricsPage>;
  /** Takes everybody out of the line: whoever was told to wait keeps a place, and cards with it, for half a minute. */
  emptyLine(): Promise<void>;
  /** Everything on standard output so far, including the audit lines. */
  stdout(): string;
  /** Everything on standard error so far: the log. */
  stderr(): string;
  /** The complete lines of standard output that are JSON. */
  audit(): readonly Readonly<Record<string, unknown>>[];
  /** Takes effect with the next run of `nvidia-smi`. */
  setMachine(machine: Machine): void;
  setNvidiaSmi(program: NvidiaSmi): void;
  /** Sends the signal and waits for the end. Does nothing if the gate has ended. */
  stop(signal?: NodeJS.Signals): Promise<Exit>;
  /** `stop` with SIGKILL. */
  kill(): Promise<Exit>;
}

/**
 * Starts `gpu-gate serve` from the last build and waits until it answers. It sees nothing of this machine: no Docker, no
 * `nvidia-smi`, no settings but those given. Killed at the end of the test file if it still runs. Rejects with its output if
 * it ends before it answers.
 */
export async function startGate(options: GateOptions = {}): Promise<Gate> {
  const folder = newFolder();
  const url = `${options.tls === undefined ? 'http' : 'https'}://127.0.0.1:${await freePort()}`;
  const stateDir = options.stateDir ?? join(folder, 'state');
  const setNvidiaSmi = (program: NvidiaSmi): void => putNvidiaSmi(folder, program);
  const setMachine = (machine: Machine): void => putMachine(join(folder, 'machine.json'), machine);
  mkdirSync(join(folder, 'bin'));
  symlinkSync(process.execPath, join(folder, 'bin', 'node'));
  setMachine(options.machine ?? defaultMachine());
  setNvidiaSmi(options.nvidiaSmi ?? 'stand-in');

  const gate = spawn(
    '/usr/bin/setpriv',
    [
      ...DIES_WITH_US,
      ...(options.heedsModes === true ? ['--bounding-set=-all'] : []),
      ...(options.ownPidNamespace === true ? OWN_PID_NAMESPACE : []),
      ...(options.descriptors === undefined ? [] : ['/usr/bin/prlimit', `--nofile=${options.descriptors}`]),
      process.execPath,
      COMMAND,
      'serve',
      ...(options.flags ?? []),
    ],
    {
      env: environment(folder, url, stateDir, options),
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const [stdout, stderr] = [collect(gate.stdout), collect(gate.stderr)];
  const exited = exitOf(gate);
  const over = options.tls === undefined ? {} : { tls: options.tls };
  await untilItAnswers(url, over, exited, stderr).catch((error: unknown) => {
    gate.kill('SIGKILL');
    throw error;
  });

  const authorization = options.token === undefined ? {} : { authorization: `Bearer ${options.token}` };
  const ask = (path: string, how: Call = {}): Promise<Answer> =>
    call(new URL(path, url), { ...over, ...how, headers: { ...authorization, ...how.headers } });
  const stop = (signal: NodeJS.Signals = 'SIGTERM'): Promise<Exit> => {
    gate.kill(signal);
    return exited;
  };
  const started: Gate = {
    url,
    pid: gate.pid ?? 0,
    stateDir,
    exited,
    call: ask,
    get: (path, headers = {}) => ask(path, { headers }),
    post: (path, body, headers = {}) => ask(path, { method: 'POST', body, headers }),
    cards: async () => cardsShape.parse((await ask('/cards')).body),
    metrics: async () => parseMetrics((await ask('/metrics')).text),
    async emptyLine() {
      const answer = await ask('/runs?state=waiting');
      const { runs = [] } = answer.body as { readonly runs?: readonly { readonly run_id: string }[] };
      for (const { run_id: runId } of runs) await ask(`/runs/${runId}?waiting=true`, { method: 'DELETE' });
    },
    stdout,
    stderr,
    audit: () => jsonLines(stdout()),
    setMachine,
    setNvidiaSmi,
    stop,
    kill: () => stop('SIGKILL'),
  };
  running.add(started);
  void exited.then(() => running.delete(started));
  return started;
}

const COMMAND = fileURLToPath(new URL('../../dist/cli/gpu-gate.js', import.meta.url));

/** A crashed test must not leave a gate behind; setpriv then becomes the gate, with the same pid. */
const DIES_WITH_US = ['--pdeathsig', 'KILL'];

const OWN_PID_NAMESPACE = ['/usr/bin/unshare', '--pid', '--fork', '--mount-proc', '--kill-child'];

/** A gate that takes longer does not start at all: on two busy cores beside engines some have taken twenty seconds. */
const START_MS = 60_000;

const folders: string[] = [];
const running = new Set<Gate>();

// Once per test file. A folder is kept until then, so that a gate can be restarted on the state of one that ended.
afterAll(async () => {
  await Promise.all(Array.from(running, (gate) => gate.kill()));
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gate-'));
  folders.push(folder);
  return folder;
}

/** PATH has one folder and nothing else: a machine that runs these tests may have cards of its own. */
function environment(folder: string, url: string, stateDir: string, options: GateOptions): NodeJS.ProcessEnv {
  const { TMPDIR, GPU_GATE_TEST_ROOT } = process.env;
  return {
    ...(TMPDIR === undefined ? {} : { TMPDIR }),
    ...(GPU_GATE_TEST_ROOT === undefined ? {} : { GPU_GATE_TEST_ROOT }),
    PATH: join(folder, 'bin'),
    HOME: folder,
    STAND_IN_MACHINE: join(folder, 'machine.json'),
    // The kernel's log of this machine is none of the test's business.
    TUNEPLANE_KERNEL_LOG: 'off',
    DOCKER_HOST: options.engine?.dockerHost ?? `unix://${folder}/no-docker.sock`,
    TUNEPLANE_LISTEN: [new URL(url).host, ...(options.alsoListen ?? [])].join(','),
    TUNEPLANE_STATE_DIR: stateDir,
    ...(options.redisUrl === undefined ? {} : { TUNEPLANE_REDIS_URL: options.redisUrl }),
    ...options.settings,
  };
}

function putNvidiaSmi(folder: string, program: NvidiaSmi): void {
  const place = join(folder, 'bin', 'nvidia-smi');
  if (program === 'none') rmSync(place, { force: true });
  else if (program === 'stand-in') putStandIn(place);
  else replace(place, `#!/bin/sh\nPATH=/usr/bin:/bin\n${program.script}\n`, 0o755);
}

function collect(stream: Readable): () => string {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString();
}

function exitOf(gate: ChildProcess): Promise<Exit> {
  return new Promise((resolve, reject) => {
    gate.once('error', reject);
    // Not at `exit`: its last output may still be in the pipes.
    gate.once('close', (code, signal) => resolve({ code, signal }));
  });
}

async function untilItAnswers(url: string, over: Call, exited: Promise<Exit>, stderr: () => string): Promise<void> {
  const ended = exited.then(({ code, signal }) => {
    throw new Error(`the gate ended with ${signal ?? `exit code ${code}`} before it answered:\n${stderr()}`);
  });
  const answered = async (): Promise<void> => {
    for (const deadline = performance.now() + START_MS; performance.now() < deadline; await sleep(5)) {
      const health = await call(new URL('/healthz', url), over).catch(() => null);
      if (health?.status === 200) return;
    }
    throw new Error(`the gate did not answer within ${START_MS} ms:\n${stderr()}`);
  };
  await Promise.race([ended, answered()]);
}

function jsonLines(text: string): readonly Readonly<Record<string, unknown>>[] {
  const whole = text.slice(0, text.lastIndexOf('\n') + 1).split('\n');
  return whole.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Record<string, unknown>);
}
