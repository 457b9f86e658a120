import { describe, expect, test } from 'vitest';
import { FATAL_XIDS } from '../../src/model/xid.js';
import { readSettings, type Environment, type Settings } from '../../src/settings/settings.js';
import { SETTINGS } from '../../src/settings/table.js';

const read = (env: Environment, flags: readonly string[] = []) => readSettings(env, flags, { terminal: false });

function settingsOf(env: Environment, flags: readonly string[] = []): Settings {
  const answer = read(env, flags);
  if (answer.kind === 'problems') throw new Error(answer.problems.join('\n'));
  return answer.settings;
}

function problemsOf(env: Environment, flags: readonly string[] = []): readonly string[] {
  const answer = read(env, flags);
  return answer.kind === 'problems' ? answer.problems : [];
}

function warningsOf(env: Environment): readonly string[] {
  const answer = read(env);
  return answer.kind === 'ok' ? answer.warnings : answer.problems;
}

test('an empty environment is a machine with Docker, one gate and no Redis, on loopback', () => {
  expect(read({})).toEqual({
    kind: 'ok',
    warnings: [],
    settings: {
      listen: [{ kind: 'tcp', host: '127.0.0.1', port: 9840 }],
      tokensFile: null,
      policyFile: null,
      auditFile: null,
      webConfigFile: null,
      plainHttp: false,
      metricsListen: null,
      metricsHolders: false,
      allowedHosts: [],
      excludeCards: [],
      dockerConfig: null,
      scrapeMaxAgeMs: 1000,
      runtime: 'docker',
      redisUrl: null,
      redisPasswordFile: null,
      lockKey: 'gpu-alloc:leader',
      lockLeaseMs: 120_000,
      lockThrough: 'claim',
      processes: 1,
      localGpuCount: 0,
      localCheckExternalGpus: true,
      localCheckGpuHealth: true,
      memoryBusyMib: 512,
      admitWhenBlind: false,
      clusterProfile: null,
      nvidiaSmi: 'nvidia-smi',
      kernelLog: '/dev/kmsg',
      jobMappingDir: null,
      xidFatal: FATAL_XIDS,
      probeTimeoutS: 10,
      admitTimeoutS: 30,
      startTimeoutS: 60,
      claimGraceS: 300,
      drainTimeoutS: 30,
      maxWaiting: 256,
      reserveAfterS: 600,
      stateDir: null,
      claimsDir: null,
      instanceId: null,
      logLevel: 'info',
      logFormat: 'json',
    },
  });
});

describe('a value is read from the environment or from the flag of the same name', () => {
  // One good value for each setting, with what it reads as.
  test.each([
    [
      'TUNEPLANE_LISTEN',
      '127.0.0.1:0,unix:/run/gate',
      [
        { kind: 'tcp', host: '127.0.0.1', port: 0 },
        { kind: 'unix', path: '/run/gate' },
      ],
    ],
    ['TUNEPLANE_TOKENS_FILE', '/etc/tokens', '/etc/tokens'],
    ['TUNEPLANE_POLICY_FILE', '/etc/policy.json', '/etc/policy.json'],
    ['TUNEPLANE_AUDIT_FILE', '/var/log/audit', '/var/log/audit'],
    ['TUNEPLANE_WEB_CONFIG_FILE', '/etc/web.yml', '/etc/web.yml'],
    ['TUNEPLANE_PLAIN_HTTP', 'on', true],
    ['TUNEPLANE_METRICS_LISTEN', '0.0.0.0:9841', [{ kind: 'tcp', host: '0.0.0.0', port: 9841 }]],
    ['TUNEPLANE_METRICS_HOLDERS', 'yes', true],
    ['TUNEPLANE_ALLOWED_HOSTS', 'Gate.example, [::1]:80', ['gate.example', '[::1]:80']],
    ['TUNEPLANE_EXCLUDE_CARDS', '3, GPU-0a1b', ['3', 'GPU-0a1b']],
    ['TUNEPLANE_DOCKER_CONFIG', '/etc/docker/config.json', '/etc/docker/config.json'],
    ['TUNEPLANE_SCRAPE_MAX_AGE_MS', '0', 0],
    ['TUNEPLANE_RUNTIME', 'process', 'process'],
    ['TUNEPLANE_REDIS_URL', 'redis://10.0.0.1:6379/2', 'redis://10.0.0.1:6379/2'],
    ['TUNEPLANE_REDIS_PASSWORD_FILE', '/etc/redis', '/etc/redis'],
    ['TUNEPLANE_LOCK_KEY', 'gpu-alloc:node-7', 'gpu-alloc:node-7'],
    ['TUNEPLANE_LOCK_LEASE_MS', '30000', 30_000],
    ['TUNEPLANE_LOCK_THROUGH', 'start', 'start'],
    ['TUNEPLANE_PROCESSES', '1', 1],
    ['TUNEPLANE_LOCAL_GPU_COUNT', '8', 8],
    ['TUNEPLANE_LOCAL_CHECK_EXTERNAL_GPUS', 'off', false],
    ['TUNEPLANE_LOCAL_CHECK_GPU_HEALTH', '0', false],
    ['TUNEPLANE_MEMORY_BUSY_MIB', '2048', 2048],
    ['TUNEPLANE_ADMIT_WHEN_BLIND', 'TRUE', true],
    ['TUNEPLANE_CLUSTER_PROFILE', 'h100 sxm', 'h100 sxm'],
    ['TUNEPLANE_NVIDIA_SMI', '/opt/bin/nvidia-smi', '/opt/bin/nvidia-smi'],
    ['TUNEPLANE_PROBE_TIMEOUT_S', '2.5', 2.5],
    ['TUNEPLANE_ADMIT_TIMEOUT_S', '5', 5],
    ['TUNEPLANE_START_TIMEOUT_S', '5', 5],
    ['TUNEPLANE_CLAIM_GRACE_S', '60', 60],
    ['TUNEPLANE_DRAIN_TIMEOUT_S', '0', 0],
    ['TUNEPLANE_MAX_WAITING', '1', 1],
    ['TUNEPLANE_RESERVE_AFTER_S', '0', 0],
    ['TUNEPLANE_STATE_DIR', '/srv/gate', '/srv/gate'],
    ['TUNEPLANE_CLAIMS_DIR', '/srv/claims', '/srv/claims'],
    ['TUNEPLANE_INSTANCE_ID', 'gate-1', 'gate-1'],
    ['TUNEPLANE_LOG_LEVEL', 'warn', 'warn'],
    ['TUNEPLANE_LOG_FORMAT', 'pretty', 'pretty'],
  ])('%s', (name, text, value) => {
    const key = SETTINGS.find(([, setting]) => setting.name === name)?.[0] ?? 'listen';
    const flag = `--${name.slice('TUNEPLANE_'.length).toLowerCase().replaceAll('_', '-')}`;
    expect(settingsOf({ [name]: text })[key]).toEqual(value);
    expect(settingsOf({}, [flag, text])[key]).toEqual(value);
    expect(settingsOf({ [name]: 'what the flag wins over' }, [`${flag}=${text}`])[key]).toEqual(value);
  });

  test('the log is pretty where a person reads it, unless told otherwise', () => {
    const onTerminal = (env: Environment) => readSettings(env, [], { terminal: true });
    expect(onTerminal({})).toMatchObject({ settings: { logFormat: 'pretty' } });
    expect(onTerminal({ TUNEPLANE_LOG_FORMAT: 'json' })).toMatchObject({ settings: { logFormat: 'json' } });
  });

  test('a flag that is true or false may stand alone', () => {
    expect(settingsOf({}, ['--metrics-holders', '--log-level', 'debug'])).toMatchObject({
      metricsHolders: true,
      logLevel: 'debug',
    });
  });

  test('what has no default may be set to nothing, what has one may not', () => {
    expect(settingsOf({ TUNEPLANE_REDIS_URL: '', TUNEPLANE_EXCLUDE_CARDS: '' })).toMatchObject({
      redisUrl: null,
      excludeCards: [],
    });
    expect(problemsOf({ TUNEPLANE_LOCK_KEY: '' })).toEqual(['TUNEPLANE_LOCK_KEY is "": expected a key of Redis']);
  });
});

describe('one mistake, one exact message', () => {
  test.each<[string, Environment, string]>([
    [
      'a bare port',
      { TUNEPLANE_LISTEN: '9840' },
      'TUNEPLANE_LISTEN is "9840": expected host:port, [v6]:port or unix:/path, several with commas',
    ],
    [
      'an address twice',
      { TUNEPLANE_LISTEN: '[::1]:1,[::1]:1' },
      'TUNEPLANE_LISTEN is "[::1]:1,[::1]:1": expected each address once',
    ],
    [
      'no number',
      { TUNEPLANE_PROCESSES: 'two' },
      'TUNEPLANE_PROCESSES is "two": expected a whole number from 1 to 1000',
    ],
    [
      'an empty number',
      { TUNEPLANE_PROCESSES: '' },
      'TUNEPLANE_PROCESSES is "": expected a whole number from 1 to 1000',
    ],
    [
      'a number in hex',
      { TUNEPLANE_MAX_WAITING: '0x10' },
      'TUNEPLANE_MAX_WAITING is "0x10": expected a whole number from 1 to 100000',
    ],
    [
      'a number with a line end',
      { TUNEPLANE_MAX_WAITING: '10\r' },
      'TUNEPLANE_MAX_WAITING is "10\\r": expected a whole number from 1 to 100000',
    ],
    [
      'a fraction of a card',
      { TUNEPLANE_LOCAL_GPU_COUNT: '7.5' },
      'TUNEPLANE_LOCAL_GPU_COUNT is "7.5": expected a whole number from 0 to 1024',
    ],
    [
      'a negative limit',
      { TUNEPLANE_MEMORY_BUSY_MIB: '-1' },
      'TUNEPLANE_MEMORY_BUSY_MIB is "-1": expected a whole number from 1 to 10000000',
    ],
    [
      'no time at all',
      { TUNEPLANE_PROBE_TIMEOUT_S: '0' },
      'TUNEPLANE_PROBE_TIMEOUT_S is "0": expected seconds from 0.1 to 600',
    ],
    [
      'a unit',
      { TUNEPLANE_PROBE_TIMEOUT_S: '10s' },
      'TUNEPLANE_PROBE_TIMEOUT_S is "10s": expected seconds from 0.1 to 600',
    ],
    [
      'a lease too short',
      { TUNEPLANE_LOCK_LEASE_MS: '120' },
      'TUNEPLANE_LOCK_LEASE_MS is "120": expected a whole number from 2000 to 600000',
    ],
    [
      'a lease too long',
      { TUNEPLANE_LOCK_LEASE_MS: '600001' },
      'TUNEPLANE_LOCK_LEASE_MS is "600001": expected a whole number from 2000 to 600000',
    ],
    [
      'neither true nor false',
      { TUNEPLANE_ADMIT_WHEN_BLIND: 'maybe' },
      'TUNEPLANE_ADMIT_WHEN_BLIND is "maybe": expected true or false (also 1, 0, yes, no, on, off)',
    ],
    [
      'an unknown word',
      { TUNEPLANE_LOCK_THROUGH: 'end' },
      'TUNEPLANE_LOCK_THROUGH is "end": expected one of claim, start',
    ],
    [
      'a card by name',
      { TUNEPLANE_EXCLUDE_CARDS: 'H100' },
      'TUNEPLANE_EXCLUDE_CARDS is "H100": expected uuids (GPU-…) or indices of cards, several with commas',
    ],
    [
      'a host with a scheme',
      { TUNEPLANE_ALLOWED_HOSTS: 'http://gate' },
      'TUNEPLANE_ALLOWED_HOSTS is "http://gate": expected host names, with a port or without, several with commas',
    ],
    ['a path over two lines', { TUNEPLANE_STATE_DIR: '/a\n/b' }, 'TUNEPLANE_STATE_DIR is "/a\\n/b": expected a path'],
    [
      'an id with a colon',
      { TUNEPLANE_INSTANCE_ID: 'a:b' },
      'TUNEPLANE_INSTANCE_ID is "a:b": expected 1 to 63 letters, digits, "_", "." or "-", the first a letter or a digit',
    ],
    [
      'one instance id for several gates',
      { TUNEPLANE_INSTANCE_ID: 'gate-1', TUNEPLANE_PROCESSES: '2', TUNEPLANE_REDIS_URL: 'redis://h' },
      'TUNEPLANE_INSTANCE_ID is "gate-1" and TUNEPLANE_PROCESSES is "2": expected no id where several gates run, since two that read one environment file would remove the claims of each other',
    ],
    [
      'several processes that start processes, each with claims of its own',
      { TUNEPLANE_RUNTIME: 'process', TUNEPLANE_PROCESSES: '2', TUNEPLANE_REDIS_URL: 'redis://h' },
      'TUNEPLANE_PROCESSES is "2" with the process runtime and TUNEPLANE_CLAIMS_DIR is not set: expected one folder for the claims of all gates of this machine, or they do not see each other',
    ],
    ['no runtime', { TUNEPLANE_RUNTIME: 'podman' }, 'TUNEPLANE_RUNTIME is "podman": expected one of docker, process'],
    [
      'several processes without Redis',
      { TUNEPLANE_PROCESSES: '2' },
      'TUNEPLANE_PROCESSES is "2" and TUNEPLANE_REDIS_URL is not set: expected a Redis that all allocating processes of this machine share, or 1 process',
    ],
    [
      'the metrics where the rest is',
      { TUNEPLANE_METRICS_LISTEN: '127.0.0.1:9840' },
      'TUNEPLANE_METRICS_LISTEN is "127.0.0.1:9840", as TUNEPLANE_LISTEN: expected another address',
    ],
    [
      'an endless value',
      { TUNEPLANE_LOG_LEVEL: 'x'.repeat(5000) },
      `TUNEPLANE_LOG_LEVEL is "${'x'.repeat(200)}…": expected one of debug, info, warn, error`,
    ],
  ])('%s', (_says, env, problem) => expect(problemsOf(env)).toEqual([problem]));

  test.each<[string, string[], string]>([
    [
      'a flag that is misspelt',
      ['--redis-ulr', 'redis://h'],
      '--redis-ulr is not known: the nearest flag is --redis-url',
    ],
    [
      'an unknown flag with its value',
      ['--redis_url=redis://:pw@h'],
      '--redis_url is not known: the nearest flag is --redis-url',
    ],
    [
      'a flag without its value',
      ['--listen', '--metrics-holders'],
      '--listen came without a value: expected --listen <address>',
    ],
    ['a flag twice', ['--lock-key', 'a', '--lock-key', 'b'], '--lock-key came twice: expected it once'],
    ['a word alone', ['now'], '"now" is no flag: expected --name value, as `gpu-gate serve --help` shows them'],
    ['a short flag', ['-p'], '"-p" is no flag: expected --name value, as `gpu-gate serve --help` shows them'],
    ['a wrong value by flag', ['--processes', '-1'], '--processes is "-1": expected a whole number from 1 to 1000'],
  ])('%s', (_says, flags, problem) => expect(problemsOf({}, flags)).toEqual([problem]));

  test('all of them are reported together', () => {
    const env = { TUNEPLANE_LISTEN: '0.0.0.0:9840,10.0.0.1:9840', TUNEPLANE_PROCESSES: '4', TUNEPLANE_MAX_WAITING: '' };
    const names = problemsOf(env, ['--nonsense', '--log-level=loud']).map((problem) => problem.split(' ')[0]);
    expect(names).toEqual([
      '--nonsense',
      'TUNEPLANE_MAX_WAITING',
      '--log-level',
      'TUNEPLANE_PROCESSES',
      'TUNEPLANE_LISTEN',
      'TUNEPLANE_LISTEN',
      'TUNEPLANE_LISTEN',
      'TUNEPLANE_LISTEN',
    ]);
  });
});

describe('an address that others can reach', () => {
  const listen = { TUNEPLANE_LISTEN: '127.0.0.1:9840,192.168.1.7:9840' };
  const tokens = { TUNEPLANE_TOKENS_FILE: '/etc/tokens' };

  test('is refused without a tokens file', () => {
    expect(problemsOf({ ...listen, TUNEPLANE_PLAIN_HTTP: 'true' })).toEqual([
      'TUNEPLANE_LISTEN is "192.168.1.7:9840" and TUNEPLANE_TOKENS_FILE is not set: expected a tokens file, since whoever can ' +
        'call may start containers, or a loopback address or unix:/path (to be scraped from afar, TUNEPLANE_METRICS_LISTEN ' +
        'serves the metrics alone)',
    ]);
  });

  test('is refused over plain HTTP, unless that is said', () => {
    expect(problemsOf({ ...listen, ...tokens })).toEqual([
      'TUNEPLANE_LISTEN is "192.168.1.7:9840" and TUNEPLANE_WEB_CONFIG_FILE is not set: expected TLS, since tokens would ' +
        'cross the network in clear text, or TUNEPLANE_PLAIN_HTTP=true behind a proxy that speaks it',
    ]);
    expect(problemsOf({ ...listen, ...tokens, TUNEPLANE_PLAIN_HTTP: 'true' })).toEqual([]);
    expect(problemsOf({ ...listen, ...tokens, TUNEPLANE_WEB_CONFIG_FILE: '/etc/web.yml' })).toEqual([]);
  });

  test('may serve the metrics without one', () => {
    expect(problemsOf({ TUNEPLANE_METRICS_LISTEN: '0.0.0.0:9841,[::]:9841' })).toEqual([]);
  });

  test('port 0 of the metrics is another port than port 0 of the rest', () => {
    const free = '127.0.0.1:0';
    expect(problemsOf({ TUNEPLANE_LISTEN: free, TUNEPLANE_METRICS_LISTEN: free })).toEqual([]);
  });
});

describe('warnings', () => {
  test('are none for what the commands go by that ask a gate', () => {
    const env = {
      TUNEPLANE_URL: 'http://gpu-01:9840',
      TUNEPLANE_TOKEN_FILE: '/t',
      TUNEPLANE_TOKENS_FILE: '/etc/tokens',
    };
    expect(warningsOf(env)).toEqual([]);
  });

  test.each<[string, Environment, string]>([
    [
      'a variable that is misspelt',
      { TUNEPLANE_PROCESES: '2' },
      'TUNEPLANE_PROCESES is not known here and has no effect: the nearest known one is TUNEPLANE_PROCESSES',
    ],
    [
      "another part's variable, its value unsaid",
      { TUNEPLANE_DATABASE_URL: 'postgres://secret' },
      'TUNEPLANE_DATABASE_URL is not known here and has no effect: the nearest known one is TUNEPLANE_REDIS_URL',
    ],
    [
      'lower case',
      { tuneplane_listen: ':1' },
      'tuneplane_listen is not known here and has no effect: the nearest known one is TUNEPLANE_LISTEN',
    ],
    [
      'a token to ask with where no file says who may call',
      { TUNEPLANE_TOKEN_FILE: '/etc/token' },
      'TUNEPLANE_TOKEN_FILE has no effect here, it is for the commands that query a gate;  callers are listed in TUNEPLANE_TOKENS_FILE, which is not set',
    ],
    [
      'a password for no Redis',
      { TUNEPLANE_REDIS_PASSWORD_FILE: '/etc/pw' },
      'TUNEPLANE_REDIS_PASSWORD_FILE has no effect: TUNEPLANE_REDIS_URL is not set',
    ],
    [
      'two passwords',
      { TUNEPLANE_REDIS_PASSWORD_FILE: '/etc/pw', TUNEPLANE_REDIS_URL: 'redis://:hunter2@h' },
      'TUNEPLANE_REDIS_URL holds a password that has no effect: TUNEPLANE_REDIS_PASSWORD_FILE is set',
    ],
    [
      'a folder for claims that are containers',
      { TUNEPLANE_CLAIMS_DIR: '/srv/claims' },
      'TUNEPLANE_CLAIMS_DIR has no effect: the containers are the claims, TUNEPLANE_RUNTIME is docker',
    ],
    [
      'a policy for containers that are processes',
      { TUNEPLANE_RUNTIME: 'process', TUNEPLANE_POLICY_FILE: '/etc/policy.json' },
      'of TUNEPLANE_POLICY_FILE only max.cards has an effect: TUNEPLANE_RUNTIME is process',
    ],
    [
      'hosts that nobody asks for',
      { TUNEPLANE_TOKENS_FILE: '/etc/tokens', TUNEPLANE_ALLOWED_HOSTS: 'gate' },
      'TUNEPLANE_ALLOWED_HOSTS has no effect: with a tokens file the token decides, not the Host header',
    ],
    [
      'a grace shorter than a start',
      { TUNEPLANE_CLAIM_GRACE_S: '20' },
      'TUNEPLANE_CLAIM_GRACE_S is 20, less than TUNEPLANE_START_TIMEOUT_S (60): ' +
        'another gate may remove a container as a left-over while it is being started here',
    ],
  ])('%s', (_says, env, warning) => expect(warningsOf(env)).toEqual([warning]));

  test('nobody is warned of variables that are not ours', () => {
    expect(warningsOf({ PATH: '/bin', DOCKER_HOST: 'unix:///run/docker.sock', HOME: '/root' })).toEqual([]);
  });
});

describe('a password in a Redis address is never said', () => {
  test.each([
    ['with a wrong path', 'redis://user:hunter2@redis:6379/db', '(not shown, it may hold a password)'],
    ['with a wrong scheme', 'http://:hunter2@redis', '(not shown, it may hold a password)'],
    ['that is no address', 'redis://:hunter2', '(not shown, it may hold a password)'],
    ['with a host cut short', 'redis://redis#hunter2@redis', '(not shown, it may hold a password)'],
    ['with a letter that ends the host', 'redis://:hunter#2@redis', '(not shown, it may hold a password)'],
  ])('%s', (_says, text, shown) => {
    expect(problemsOf({ TUNEPLANE_REDIS_URL: text })).toEqual([
      `TUNEPLANE_REDIS_URL is ${shown}: ` +
        'expected redis://host:port or rediss://host:port, optionally a slash and a database number',
    ]);
    expect(problemsOf({}, ['--redis-url', text]).join(' ')).not.toContain('hunter');
    expect(problemsOf({}, ['--redis-ur', text]).join(' ')).not.toContain('hunter');
    expect(problemsOf({}, ['--metrics-holders', 'true', `redis://:hunter2@h`]).join(' ')).not.toContain('hunter');
  });
});
