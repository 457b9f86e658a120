import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { readSettings } from '../../src/settings/settings.js';
import { freePort } from '../support/services/redis.js';
import { composeShape, type Service } from './compose-shape.js';
import { interpolate, variablesOf } from './interpolate.js';
import { PROJECT } from './project.js';
import { shippedRunLine } from './run-line.js';

const TEXT = readFileSync(join(PROJECT, 'compose.yaml'), 'utf8');
const NEEDED = { ALERT_WEBHOOK_URL: 'https://hooks.example/alerts', GRAFANA_PASSWORD: 'secret' };
const compose = composeShape.parse(readYaml(NEEDED));
const services = Object.entries(compose.services);
const service = (name: string): Service => composeShape.shape.services.valueType.parse(compose.services[name]);

describe('compose.yaml', () => {
  test('starts the gate and all that watches it', () => {
    expect(Object.keys(compose.services)).toEqual(['gate', 'redis', 'prometheus', 'alertmanager', 'grafana']);
  });

  test.each(Object.keys(NEEDED))('says so when %s is not set, rather than starting without', (name) => {
    const { [name as keyof typeof NEEDED]: _left, ...others } = NEEDED;
    expect(() => readYaml(others)).toThrow(name);
  });

  test.each(services)('mounts into %s only what is there', (_name, { volumes = [] }) => {
    const [paths, named] = sourcesOf(volumes);
    expect(paths.filter((path) => path.startsWith('./') && !existsSync(join(PROJECT, path)))).toEqual([]);
    expect(named.filter((name) => !Object.hasOwn(compose.volumes, name))).toEqual([]);
  });

  test('declares no volume and no secret that nobody uses', () => {
    const named = services.flatMap(([, { volumes = [] }]) => sourcesOf(volumes)[1]);
    expect(Object.keys(compose.volumes)).toEqual(named);
    const given = new Set(services.flatMap(([, { secrets = [] }]) => secrets));
    expect(Object.keys(compose.secrets)).toEqual([...given]);
  });

  test('asks for no service that it does not have', () => {
    const asked = services.flatMap(([, { depends_on: others = [] }]) => others);
    expect(asked.filter((name) => !Object.hasOwn(compose.services, name))).toEqual([]);
  });

  test('opens no port to everybody', () => {
    const ports = services.flatMap(([, { ports: open = [] }]) => open);
    expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
  });

  test('keeps the lock in a Redis that never drops a key to make room', () => {
    expect(service('redis').command?.join(' ')).toContain('--maxmemory-policy noeviction');
    const [port = ''] = service('redis').ports ?? [];
    expect(service('gate').environment?.['TUNEPLANE_REDIS_URL']).toBe(`redis://${port.replace(/:\d+$/, '')}`);
  });
});

test('the Redis of compose.yaml lets nobody in without the password, and shows it to nobody', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'compose-redis-'));
  const secret = join(folder, 'redis-password');
  writeFileSync(secret, 'a7Wq93');
  expect(service('gate').environment?.['TUNEPLANE_REDIS_PASSWORD_FILE']).toBe('/run/secrets/redis-password');
  for (const name of ['gate', 'redis']) expect(service(name).secrets).toContain('redis-password');
  const port = await freePort();
  const [shell = '', ...args] = service('redis').command ?? [];
  const script = (args[1] ?? '')
    .replace('/run/secrets/redis-password', secret)
    .replace('redis-server -', `redis-server - --port ${port} --dir ${folder}`);
  const server = spawn(shell, ['-c', script], { stdio: 'ignore' });
  const say = async (text: string): Promise<string> => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(text);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    return answer.toString();
  };
  try {
    await expect.poll(() => say('PING\r\n').catch(() => 'not there yet')).toMatch(/^-NOAUTH/);
    expect(await say('AUTH a7Wq93\r\n')).toBe('+OK\r\n');
    expect(readFileSync(`/proc/${server.pid}/cmdline`, 'utf8')).not.toContain('a7Wq93');
  } finally {
    server.kill('SIGTERM');
    await once(server, 'exit');
    rmSync(folder, { recursive: true });
  }
});

describe('the gate in compose.yaml', () => {
  const gate = service('gate');
  const { flags, image } = shippedRunLine();

  test('has settings that the gate takes without a warning', () => {
    const read = readSettings(gate.environment ?? {}, [], { terminal: false });
    expect(read).toMatchObject({ kind: 'ok', warnings: [] });
  });

  test.each([
    ['image', [image], [gate.image]],
    ['name', flags.get('name'), [gate.container_name]],
    ['restart policy', flags.get('restart'), [gate.restart]],
    ['time to end', flags.get('stop-timeout'), [gate.stop_grace_period?.replace('s', '')]],
    ['network', flags.get('network'), [gate.network_mode]],
    ['process namespace', flags.get('pid'), [gate.pid]],
    ['cards', flags.get('gpus'), gate.deploy?.resources.reservations.devices.map(({ count }) => count)],
    ['device rules', flags.get('device-cgroup-rule'), gate.device_cgroup_rules],
    ['capabilities', flags.get('cap-drop'), gate.cap_drop],
    ['security options', flags.get('security-opt'), gate.security_opt],
  ])('has the %s of the docker run line', (_what, ofRunLine, ofCompose) => {
    expect(ofRunLine).toBeDefined();
    expect(ofCompose).toEqual(ofRunLine);
  });

  test('has the socket and its state where the docker run line has them', () => {
    const targets = (flags.get('v') ?? [])
      .map((mount) => mount.split(':')[1])
      .filter((path) => path?.startsWith('/var/'));
    expect((gate.volumes ?? []).map((mount) => mount.split(':')[1])).toEqual(expect.arrayContaining(targets));
    expect(gate.group_add).toEqual([gate.build?.args['DOCKER_GID']]);
  });
});

describe('what compose.yaml mounts', () => {
  test.each(services)(
    'and the environment name no host that %s cannot resolve',
    (_name, { volumes = [], ...given }) => {
      const extra = (given.extra_hosts ?? []).map((host) => host.split(':')[0]);
      const known = new Set([...Object.keys(compose.services), ...extra]);
      const texts = [...textsOf(volumes), ...Object.values(given.environment ?? {})];
      expect(texts.flatMap(hostsIn).filter((host) => !known.has(host))).toEqual([]);
    },
  );

  test('has dashboards in the folder in which Grafana looks for them', () => {
    const { volumes = [] } = service('grafana');
    const folder = /^\s+path: (\S+)$/m.exec(textsOf(volumes).join('\n'))?.[1] ?? '';
    const files = readdirSync(dirname(onThisMachine(volumes, join(folder, 'fleet.json'))));
    expect(files.filter((name) => name.endsWith('.json'))).not.toEqual([]);
  });

  test('uses no variable that Grafana is not given, and the address of the webhook', () => {
    const { volumes = [], environment = {} } = service('grafana');
    const used = new Set(textsOf(volumes.filter((mount) => mount.includes('/provisioning'))).flatMap(variablesOf));
    expect([...used].filter((name) => !Object.hasOwn(environment, name))).toEqual([]);
    expect(used).toContain('ALERT_WEBHOOK_URL');
  });

  test.each([
    ['', '/etc/prometheus/scrape.yml', ''],
    ['alertmanager', '/etc/prometheus/scrape-and-alert.yml', 'false'],
  ])('alerts come from one side alone with the profiles "%s"', (profiles, ofPrometheus, ofGrafana) => {
    const { prometheus, grafana } = composeShape.parse(readYaml({ ...NEEDED, COMPOSE_PROFILES: profiles })).services;
    expect(prometheus?.command).toContain(`--config.file=${ofPrometheus}`);
    expect(grafana?.environment?.['GF_UNIFIED_ALERTING_EXECUTE_ALERTS']).toBe(ofGrafana);
    const config: unknown = parse(readFileSync(onThisMachine(prometheus?.volumes ?? [], ofPrometheus), 'utf8'));
    expect(Object.hasOwn(config as object, 'rule_files')).toBe(ofGrafana === 'false');
  });

  test('gives Alertmanager the address of the webhook as a file, where its configuration looks for it', () => {
    const { volumes = [], secrets = [] } = service('alertmanager');
    expect(textsOf(volumes).join('')).toContain(`url_file: /run/secrets/${secrets[0]}\n`);
    expect(compose.secrets[secrets[0] ?? '']).toEqual({ environment: 'ALERT_WEBHOOK_URL' });
  });
});

/** What can judge here whether the file is valid: says what is wrong, and nothing where all is well. */
const judges: readonly (readonly [who: string, judge: (env: Readonly<Record<string, string>>) => string])[] = [
  ['the part of the specification that it uses', askShape],
  ...(spawnSync('docker', ['compose', 'version']).status === 0 ? [['the Compose plugin', askPlugin] as const] : []),
];

test.each(judges)('compose.yaml is valid, with and without Alertmanager, for %s', (_who, judge) => {
  expect(judge(NEEDED)).toBe('');
  expect(judge({ ...NEEDED, COMPOSE_PROFILES: 'alertmanager' })).toBe('');
});

function askShape(env: Readonly<Record<string, string>>): string {
  const checked = composeShape.safeParse(readYaml(env));
  return checked.success ? '' : z.prettifyError(checked.error);
}

function askPlugin(env: Readonly<Record<string, string>>): string {
  const command = ['compose', '--file', 'compose.yaml', 'config', '--quiet'];
  return spawnSync('docker', command, { cwd: PROJECT, env: { ...process.env, ...env }, encoding: 'utf8' }).stderr;
}

/** With variables put in where Compose does it: in values, after YAML was read. */
function readYaml(env: Readonly<Record<string, string>>): unknown {
  return parse(TEXT, (_key, value: unknown) => (typeof value === 'string' ? interpolate(value, env) : value));
}

/** Paths of this machine, and names of volumes. */
function sourcesOf(mounts: readonly string[]): readonly [paths: readonly string[], named: readonly string[]] {
  const sources = mounts.map((mount) => mount.split(':')[0] ?? '');
  return [sources.filter((source) => /^[./]/.test(source)), sources.filter((source) => !/^[./]/.test(source))];
}

/** Every YAML file of the project that is in these mounts, without comments and without what is Grafana's own language. */
function textsOf(mounts: readonly string[]): readonly string[] {
  const folders = sourcesOf(mounts)[0].filter((path) => path.startsWith('./'));
  const files = folders.flatMap((folder) =>
    readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
      join(PROJECT, folder, name),
    ),
  );
  const texts = files.filter((file) => /\.ya?ml$/.test(file)).map((file) => readFileSync(file, 'utf8'));
  return texts.map((text) => text.replaceAll(/^\s*(#|expr: |expression: ).*$/gm, ''));
}

/** The file that a container finds at this path. */
function onThisMachine(mounts: readonly string[], path: string): string {
  const [source = '', target = ''] =
    mounts.map((mount) => mount.split(':')).find(([, to]) => to === dirname(path)) ?? [];
  return join(PROJECT, source, path.slice(target.length));
}

/** Hosts that stand before a port, as in `http://prometheus:9090` and `gate:9841`. */
function hostsIn(yaml: string): readonly string[] {
  return [...yaml.matchAll(/(?<![\w.$-])([a-z][a-z0-9-]*):\d{2,5}\b/g)].map(([, host = '']) => host);
}
