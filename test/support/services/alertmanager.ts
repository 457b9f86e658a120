import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll } from 'vitest';
import { z } from 'zod';
import { freePort } from './redis.js';

/** An alert as the webhook received it. */
export type SentAlert = z.infer<typeof sentShape>;

/** A webhook that records its messages. */
export interface Webhook {
  readonly url: string;
  /** Every alert of every message, oldest first. */
  sent(): readonly SentAlert[];
}

/** An alert in Alertmanager, and the fingerprints of the alerts that inhibit it. */
export type HeldAlert = z.infer<typeof heldShape>;

/** A real Alertmanager with its own folder and port. */
export interface TestAlertmanager {
  /** Host and port, for Prometheus' configuration. */
  readonly address: string;
  alerts(): Promise<readonly HeldAlert[]>;
  stop(): Promise<void>;
}

const labelsShape = z.record(z.string(), z.string());
const sentShape = z.object({
  status: z.enum(['firing', 'resolved']),
  labels: labelsShape,
  annotations: labelsShape,
  fingerprint: z.string(),
});
const heldShape = z.object({
  labels: labelsShape,
  fingerprint: z.string(),
  status: z.object({ state: z.string(), inhibitedBy: z.array(z.string()) }),
});

/** Starts a webhook; it ends with the test file. */
export async function startWebhook(): Promise<Webhook> {
  const sent: SentAlert[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { alerts } = z.object({ alerts: z.array(sentShape) }).parse(JSON.parse(Buffer.concat(chunks).toString()));
      sent.push(...alerts);
      response.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stops.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, sent: () => sent };
}

/** Starts an Alertmanager with this configuration (YAML) and waits until it is ready; it ends with the test file. */
export async function startAlertmanager(config: string): Promise<TestAlertmanager> {
  const folder = mkdtempSync(join(tmpdir(), 'alertmanager-'));
  const address = `127.0.0.1:${await freePort()}`;
  writeFileSync(join(folder, 'alertmanager.yml'), config);
  const flags = [
    `--config.file=${join(folder, 'alertmanager.yml')}`,
    `--storage.path=${folder}`,
    `--web.listen-address=${address}`,
    // A single node: does not wait for a cluster.
    '--cluster.listen-address=',
    '--log.level=warn',
  ];
  const program = spawn('/usr/bin/setpriv', ['--pdeathsig', 'KILL', 'prometheus-alertmanager', ...flags], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  program.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const exited = once(program, 'close');
  const stop = async (): Promise<void> => {
    program.kill('SIGKILL');
    await exited;
    rmSync(folder, { recursive: true, force: true });
  };
  stops.push(stop);
  const isReady = (): Promise<boolean> =>
    fetch(`http://${address}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  for (const deadline = performance.now() + START_MS; !(await isReady()); await sleep(50)) {
    if (program.exitCode === null && program.signalCode === null && performance.now() < deadline) continue;
    throw new Error(`Alertmanager did not start; it said:\n${said}`);
  }
  return {
    address,
    alerts: async () => z.array(heldShape).parse(await (await fetch(`http://${address}/api/v2/alerts`)).json()),
    stop,
  };
}

const START_MS = 20_000;
const stops: (() => Promise<void>)[] = [];

// Once per test file.
afterAll(async () => {
  await Promise.all(stops.map((stop) => stop()));
});
