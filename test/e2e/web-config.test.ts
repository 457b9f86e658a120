import { writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashSync } from 'bcryptjs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call } from '../support/call.js';
import { makeAuthority, type Certificate } from '../support/certificates.js';
import { runCommand } from '../support/command.js';
import { startGate, type Gate } from '../support/gate.js';
import { by, parseMetrics } from '../support/metrics-page.js';
import { startPrometheus, type TestPrometheus } from '../support/services/prometheus.js';
import { freePort } from '../support/services/redis.js';

/** TLS, client certificates and passwords from a web config file, towards a real Prometheus and the commands. */

const folder = mkdtempSync(join(tmpdir(), 'web-config-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const ours = makeAuthority('ours');
const others = makeAuthority('others');
const server = ours.sign('server', 'IP:127.0.0.1');
const client = ours.sign('client', 'DNS:prometheus.example');
/** Seconds until a file that nobody asked for is looked at. */
const SOON = { timeout: 20_000 };

const config = join(folder, 'web.yml');
const certFile = join(folder, 'cert.pem');
const keyFile = join(folder, 'key.pem');
function serve({ cert, key }: Pick<Certificate, 'cert' | 'key'>): void {
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key, { mode: 0o600 });
}

interface Job {
  readonly name: string;
  readonly target: string;
  readonly tls: object;
  readonly auth?: object;
}

function prometheus(jobs: readonly Job[]): Promise<TestPrometheus> {
  return startPrometheus({
    scrape: {},
    config: JSON.stringify({
      global: { scrape_interval: '2s', scrape_timeout: '2s' },
      scrape_configs: jobs.map(({ name, target, tls, auth }) => ({
        job_name: name,
        scheme: 'https',
        tls_config: tls,
        ...(auth === undefined ? {} : { basic_auth: auth }),
        static_configs: [{ targets: [target] }],
      })),
    }),
  });
}

async function up(running: TestPrometheus): Promise<Record<string, number>> {
  const samples = await running.query('up');
  return Object.fromEntries(samples.map(({ labels, value }) => [labels['job'] ?? '', value]));
}

describe('TLS with a password for those who scrape', () => {
  const socketPath = join(folder, 'gate.sock');
  let gate: Gate;
  let metrics: string;
  beforeAll(async () => {
    serve(server);
    // Paths are relative to the file.
    writeFileSync(
      config,
      `tls_server_config: { cert_file: cert.pem, key_file: key.pem }
http_server_config: { http2: true, headers: { Strict-Transport-Security: max-age=60, X-Frame-Options: sameorigin } }
basic_auth_users: { prometheus: ${hashSync('to scrape', 5)} }
`,
    );
    metrics = `127.0.0.1:${await freePort()}`;
    gate = await startGate({
      settings: { TUNEPLANE_WEB_CONFIG_FILE: config, TUNEPLANE_METRICS_LISTEN: metrics },
      alsoListen: [`unix:${socketPath}`],
      tls: { ca: ours.cert },
    });
  });
  afterAll(() => gate?.stop());

  test('Prometheus scrapes both listeners with the password, and neither with a wrong one or none', async () => {
    const tls = { ca_file: ours.certFile };
    const auth = { username: 'prometheus', password: 'to scrape' };
    const main = new URL(gate.url).host;
    const running = await prometheus([
      { name: 'main', target: main, tls, auth },
      { name: 'metrics', target: metrics, tls, auth },
      { name: 'wrong', target: metrics, tls, auth: { ...auth, password: 'to scrap' } },
      { name: 'nobody', target: metrics, tls, auth: { ...auth, username: 'nobody' } },
      { name: 'none', target: main, tls },
      { name: 'mistrusting', target: main, tls: { ca_file: others.certFile }, auth },
    ]);
    await expect
      .poll(() => up(running), SOON)
      .toEqual({ main: 1, metrics: 1, wrong: 0, nobody: 0, none: 0, mistrusting: 0 });
    await running.stop();
  });

  test('the password is for the metrics alone, and the headers of the file are on every answer', async () => {
    const answer = await gate.get('/cards');
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      'strict-transport-security': 'max-age=60',
      'x-frame-options': 'sameorigin',
      'x-content-type-options': 'nosniff',
    });
    const asked = await gate.get('/metrics');
    expect(asked).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Basic' } });
  });

  test('a unix socket speaks plain HTTP and asks for no password', async () => {
    const page = await call('http://gate/metrics', { socketPath });
    expect(page.status).toBe(200);
    expect(page.headers['strict-transport-security']).toBeUndefined();
  });

  test('plain HTTP on the address is not answered', async () => {
    await expect(call(gate.url.replace('https:', 'http:'))).rejects.toThrow(/ECONNRESET|socket hang up/);
  });

  test('the commands ask over TLS, and say what is wrong with a certificate that they do not trust', async () => {
    const env = { TUNEPLANE_URL: gate.url };
    const good = await runCommand(['status', '--ca-file', ours.certFile], { env });
    expect(good).toMatchObject({ code: 0 });
    const fromEnv = await runCommand(['status'], { env: { ...env, TUNEPLANE_CA_FILE: ours.certFile } });
    expect(fromEnv.code).toBe(0);
    const without = await runCommand(['status'], { env });
    expect(without).toMatchObject({ code: 6, stderr: expect.stringContaining('certificate') });
  });

  test('the doctor knows the gate that answers, and says what is wrong with a web config', async () => {
    const states = async (path: string) => {
      const env = { TUNEPLANE_LISTEN: new URL(gate.url).host, TUNEPLANE_WEB_CONFIG_FILE: path };
      const { stdout } = await runCommand(['doctor', '--json'], { env });
      const findings = JSON.parse(stdout) as { name: string; state: string; says: string }[];
      return findings.filter(({ name }) => ['listen', 'web-config-file'].includes(name));
    };
    expect(await states(config)).toMatchObject([
      { name: 'web-config-file', state: 'ok' },
      { name: 'listen', says: expect.stringContaining('a gate answers') },
    ]);
    const bad = join(folder, 'bad.yml');
    writeFileSync(bad, 'tls_server_config: { cert_file: none.pem, key_file: key.pem }');
    expect(await states(bad)).toMatchObject([
      { name: 'web-config-file', state: 'error', says: expect.stringContaining('none.pem: cannot be read') },
      {},
    ]);
  });

  test('a new certificate is served without a restart; while it does not fit its key, the last good one is', async () => {
    const page = async () => parseMetrics((await call('http://gate/metrics', { socketPath })).text);
    const inForce = async () => by(await page(), 'tuneplane_gpu_config_reload_success', 'file')['web_config'];
    const asked = (ca: string) => call(new URL('/healthz', gate.url), { tls: { ca } }).then(({ status }) => status);
    expect(await inForce()).toBe(1);
    const next = others.sign('server', 'IP:127.0.0.1');
    writeFileSync(certFile, next.cert);
    await expect.poll(inForce, SOON).toBe(0);
    expect(await asked(ours.cert)).toBe(200);
    expect((await call('http://gate/readyz', { socketPath })).body).toMatchObject({
      parts: { files: { detail: expect.stringContaining('the web_config file cannot be used') } },
    });
    serve(next);
    await expect.poll(inForce, SOON).toBe(1);
    expect(await asked(others.cert)).toBe(200);
    await expect(asked(ours.cert)).rejects.toThrow('certificate');
  });
});

describe('TLS with client certificates', () => {
  let gate: Gate;
  beforeAll(async () => {
    serve(server);
    writeFileSync(
      config,
      `tls_server_config:
  cert_file: ${certFile}
  key_file: ${keyFile}
  client_auth_type: RequireAndVerifyClientCert
  client_ca_file: ${ours.certFile}
  client_allowed_sans: [prometheus.example]
  min_version: TLS13
`,
    );
    gate = await startGate({
      settings: { TUNEPLANE_WEB_CONFIG_FILE: config },
      tls: { ca: ours.cert, cert: client.cert, key: client.key },
    });
  });
  afterAll(() => gate?.stop());

  test('Prometheus scrapes with one that is allowed, and not with another or none', async () => {
    const target = new URL(gate.url).host;
    const tls = ({ certFile: cert, keyFile: key }: Certificate) => ({
      ca_file: ours.certFile,
      cert_file: cert,
      key_file: key,
    });
    const running = await prometheus([
      { name: 'allowed', target, tls: tls(client) },
      { name: 'another name', target, tls: tls(ours.sign('other', 'DNS:other.example')) },
      { name: 'another authority', target, tls: tls(others.sign('client', 'DNS:prometheus.example')) },
      { name: 'none', target, tls: { ca_file: ours.certFile } },
    ]);
    await expect
      .poll(() => up(running), SOON)
      .toEqual({ allowed: 1, 'another name': 0, 'another authority': 0, none: 0 });
    await running.stop();
  });

  test('the commands show theirs', async () => {
    const env = { TUNEPLANE_URL: gate.url, TUNEPLANE_CA_FILE: ours.certFile };
    const flags = ['--cert-file', client.certFile, '--key-file', client.keyFile];
    expect(await runCommand(['status', ...flags], { env })).toMatchObject({ code: 0 });
    expect(await runCommand(['status'], { env })).toMatchObject({ code: 6 });
    expect(await runCommand(['status', ...flags.slice(0, 2)], { env })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--cert-file and --key-file together'),
    });
  });
});

describe('beyond loopback', () => {
  test('a gate does not start on a web config without TLS, unless it is told to speak plain HTTP', async () => {
    writeFileSync(config, 'basic_auth_users: {}\n');
    const tokens = join(folder, 'tokens');
    writeFileSync(tokens, `a:${'0'.repeat(64)}:read\n`, { mode: 0o600 });
    const port = await freePort();
    const settings = {
      TUNEPLANE_LISTEN: `0.0.0.0:${port}`,
      TUNEPLANE_TOKENS_FILE: tokens,
      TUNEPLANE_WEB_CONFIG_FILE: config,
    };
    await expect(startGate({ settings })).rejects.toThrow('tls_server_config: missing');
  });
});
