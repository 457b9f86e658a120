/** Every setting of the gate, once: help, README and parsing derive from this table. */

import { RUNTIME_KINDS } from '../model/runtime-kind.js';
import { FATAL_XIDS } from '../model/xid.js';
import {
  addresses,
  cards,
  flag,
  hostNames,
  oneLine,
  oneOf,
  redisUrl,
  redisUrlForPeople,
  seconds,
  shortName,
  wholeNumber,
  xidCodes,
  type Parser,
} from './parsers.js';

/** One setting. `T` is the type of its value, with null where it has no default and may be unset. */
export interface Setting<T> {
  /** The environment variable; the flag has the same name (`TUNEPLANE_REDIS_URL` is `--redis-url`). */
  readonly name: string;
  /** The default, as text; null: none. */
  readonly standard: string | null;
  /** The default in words, where `standard` alone does not explain it. */
  readonly standardInWords: string | null;
  /** The placeholder after the flag in the help. */
  readonly placeholder: string;
  /** One line: what it does. */
  readonly meaning: string;
  readonly parse: Parser<T>;
  /** Present where the text may hold a secret: returns what may be shown of it. */
  readonly forPeople: ((text: string) => string) | null;
}

/** All of them, in the order of display. */
export const TABLE = {
  listen: setting('TUNEPLANE_LISTEN', '127.0.0.1:9840', 'address', addresses, [
    'where the gate listens: host:port, [v6]:port or unix:/path, several with commas; beyond loopback it needs a tokens file',
  ]),
  tokensFile: optional('TUNEPLANE_TOKENS_FILE', 'none', 'file', oneLine('a path'), [
    'who may call, one name:sha256-of-token:roles a line; `gpu-gate token new` makes one',
  ]),
  policyFile: optional('TUNEPLANE_POLICY_FILE', 'none', 'file', oneLine('a path'), [
    'what a request may ask for (JSON): images, mounts, networks, limits',
  ]),
  auditFile: optional('TUNEPLANE_AUDIT_FILE', 'standard output', 'file', oneLine('a path'), [
    'where the audit lines go, one JSON line per decision',
  ]),
  webConfigFile: optional('TUNEPLANE_WEB_CONFIG_FILE', 'none', 'file', oneLine('a path'), [
    "TLS, client certificates and passwords for scraping, in the form of Prometheus' exporters; for every TCP address",
  ]),
  plainHttp: setting('TUNEPLANE_PLAIN_HTTP', 'false', 'boolean', flag, [
    'serve addresses beyond loopback without TLS, as behind a proxy that speaks it',
  ]),
  metricsListen: optional('TUNEPLANE_METRICS_LISTEN', 'none', 'address', addresses, [
    'one more address, for /metrics, /healthz and /readyz alone; asks for no token',
  ]),
  metricsHolders: setting('TUNEPLANE_METRICS_HOLDERS', 'false', 'boolean', flag, [
    'also export tuneplane_gpu_card_holder_info, which names the run_id that holds a card',
  ]),
  allowedHosts: optional('TUNEPLANE_ALLOWED_HOSTS', 'none', 'host', hostNames, [
    'without a tokens file: more values of the Host header to accept',
  ]),
  excludeCards: optional('TUNEPLANE_EXCLUDE_CARDS', 'none', 'card', cards, [
    'cards that are never handed out: uuids or indices, several with commas',
  ]),
  dockerConfig: optional('TUNEPLANE_DOCKER_CONFIG', "Docker's own config.json", 'file', oneLine('a path'), [
    'whose `auths` are used to pull images; a credsStore is refused by name',
  ]),
  scrapeMaxAgeMs: setting('TUNEPLANE_SCRAPE_MAX_AGE_MS', '1000', 'ms', wholeNumber(0, 60_000), [
    'a scrape may reuse a look that ended less than this ago; an admission never does',
  ]),
  runtime: setting('TUNEPLANE_RUNTIME', 'docker', 'runtime', oneOf(...RUNTIME_KINDS), [
    "what starts the jobs: docker (found as Docker's own client does), or process: commands of the gate's own user, unconfined",
  ]),
  redisUrl: {
    ...optional('TUNEPLANE_REDIS_URL', 'none', 'url', redisUrl, [
      'the Redis with the lock that several gates share: redis:// or rediss://; without it one process allocates alone',
    ]),
    forPeople: redisUrlForPeople,
  },
  redisPasswordFile: optional('TUNEPLANE_REDIS_PASSWORD_FILE', 'none', 'file', oneLine('a path'), [
    'holds the password for Redis; read again at each connection',
  ]),
  lockKey: setting('TUNEPLANE_LOCK_KEY', 'gpu-alloc:leader', 'key', oneLine('a key of Redis'), [
    'the key of the lock; machines that share a Redis need a key each',
  ]),
  lockLeaseMs: setting('TUNEPLANE_LOCK_LEASE_MS', '120000', 'ms', wholeNumber(2000, 600_000), [
    'time to live of the lock; after a crash of its holder others wait at most this long',
  ]),
  lockThrough: setting('TUNEPLANE_LOCK_THROUGH', 'claim', 'step', oneOf('claim', 'start'), [
    'how long the lock is kept: claim, or start, beside an allocator that does not count created containers',
  ]),
  processes: setting('TUNEPLANE_PROCESSES', '1', 'number', wholeNumber(1, 1000), [
    'allocating processes on this machine, older agents counted; above 1 needs Redis',
  ]),
  localGpuCount: setting('TUNEPLANE_LOCAL_GPU_COUNT', '0', 'number', wholeNumber(0, 1024), [
    'how many cards the machine has; 0: ask the driver, and ask again when it fails',
  ]),
  localCheckExternalGpus: setting('TUNEPLANE_LOCAL_CHECK_EXTERNAL_GPUS', 'true', 'boolean', flag, [
    'look for use from outside: processes, memory, pinned containers',
  ]),
  localCheckGpuHealth: setting('TUNEPLANE_LOCAL_CHECK_GPU_HEALTH', 'true', 'boolean', flag, [
    'ask the driver for the health of the cards',
  ]),
  memoryBusyMib: setting('TUNEPLANE_MEMORY_BUSY_MIB', '512', 'MiB', wholeNumber(1, 10_000_000), [
    'a card with this much memory in use, or more, is in use',
  ]),
  admitWhenBlind: setting('TUNEPLANE_ADMIT_WHEN_BLIND', 'false', 'boolean', flag, [
    'also hand out cards that nvidia-smi could not show, unless a container claims them',
  ]),
  clusterProfile: optional('TUNEPLANE_CLUSTER_PROFILE', "the card's own name", 'series', oneLine('a name'), [
    'the name of the hardware series in the cluster',
  ]),
  nvidiaSmi: setting('TUNEPLANE_NVIDIA_SMI', 'nvidia-smi', 'program', oneLine('a program'), [
    'the program that shows the cards: a name on PATH or a path',
  ]),
  kernelLog: setting('TUNEPLANE_KERNEL_LOG', '/dev/kmsg', 'file', oneLine('a path, or off'), [
    "the kernel's log, read for Xids; off: not read",
  ]),
  xidFatal: setting('TUNEPLANE_XID_FATAL', FATAL_XIDS.join(','), 'code', xidCodes, [
    'Xids that exclude a card until a boot, a driver load or `include`; empty: none',
  ]),
  probeTimeoutS: setting('TUNEPLANE_PROBE_TIMEOUT_S', '10', 'seconds', seconds(0.1, 600), [
    'a probe that takes longer is killed and abandoned',
  ]),
  admitTimeoutS: setting('TUNEPLANE_ADMIT_TIMEOUT_S', '30', 'seconds', seconds(0.1, 3600), [
    'how long an admission waits for its turn and the lock',
  ]),
  startTimeoutS: setting('TUNEPLANE_START_TIMEOUT_S', '60', 'seconds', seconds(0.1, 3600), [
    'a start that takes longer is answered `starting` and kept',
  ]),
  claimGraceS: setting('TUNEPLANE_CLAIM_GRACE_S', '300', 'seconds', seconds(0, 86_400), [
    'a created container of a dead gate holds its cards this long',
  ]),
  drainTimeoutS: setting('TUNEPLANE_DRAIN_TIMEOUT_S', '30', 'seconds', seconds(0, 3600), [
    'after SIGTERM: how long admissions in progress may take to end',
  ]),
  maxWaiting: setting('TUNEPLANE_MAX_WAITING', '256', 'number', wholeNumber(1, 100_000), [
    'waiting admissions before 503 `busy`',
  ]),
  reserveAfterS: setting('TUNEPLANE_RESERVE_AFTER_S', '600', 'number', wholeNumber(0, 604_800), [
    'after so many seconds in line, free cards are kept for the run that has waited longest; 0: never',
  ]),
  jobMappingDir: optional('TUNEPLANE_JOB_MAPPING_DIR', 'none', 'folder', oneLine('a path'), [
    'files with the run_id on each card, for `--hpc-job-mapping-dir` of dcgm-exporter',
  ]),
  stateDir: optional(
    'TUNEPLANE_STATE_DIR',
    "/var/lib/tuneplane-gpu-gate, else under the user's state folder",
    'folder',
    oneLine('a path'),
    ['the instance id, the cards seen and the cards taken out; one folder for each gate'],
  ),
  claimsDir: optional('TUNEPLANE_CLAIMS_DIR', 'claims in the state folder', 'folder', oneLine('a path'), [
    'of the process runtime: a file for each job, and its output; one folder for all gates of a machine',
  ]),
  instanceId: optional('TUNEPLANE_INSTANCE_ID', 'made once, kept in the state folder', 'id', shortName, [
    'the name of this gate on the containers that it creates',
  ]),
  logLevel: setting('TUNEPLANE_LOG_LEVEL', 'info', 'level', oneOf('debug', 'info', 'warn', 'error'), [
    'the lowest level that is logged: debug, info, warn or error',
  ]),
  logFormat: optional('TUNEPLANE_LOG_FORMAT', 'json, pretty on a terminal', 'format', oneOf('json', 'pretty'), [
    'json or pretty',
  ]),
} as const;

/** The name of a setting in the code. */
export type SettingKey = keyof typeof TABLE;

/** The table's value types, before machine-dependent defaults are filled in. */
export type TableValues = {
  readonly [Key in SettingKey]: (typeof TABLE)[Key] extends Setting<infer Value> ? Value : never;
};

/** Every setting with its key, in order. */
export const SETTINGS = Object.entries(TABLE) as readonly (readonly [SettingKey, Setting<unknown>])[];

/** The flag of the same name: `TUNEPLANE_REDIS_URL` is `--redis-url`. */
export function flagOf(name: string): string {
  return `--${name
    .replace(/^TUNEPLANE_/, '')
    .toLowerCase()
    .replaceAll('_', '-')}`;
}

/** The default, for people. */
export function defaultInWords(entry: Setting<unknown>): string {
  return entry.standardInWords ?? entry.standard ?? 'none';
}

function setting<T>(
  name: string,
  standard: string,
  placeholder: string,
  parse: Parser<T>,
  meaning: readonly string[],
): Setting<T> {
  return { name, standard, standardInWords: null, placeholder, meaning: meaning.join(' '), parse, forPeople: null };
}

/** An optional setting: unset or empty, it is null. */
function optional<T>(
  name: string,
  standardInWords: string,
  placeholder: string,
  parse: Parser<T>,
  meaning: readonly string[],
): Setting<T | null> {
  const parseIfGiven: Parser<T | null> = (text) => (text === '' ? { kind: 'value', value: null } : parse(text));
  const texts = { standardInWords, placeholder, meaning: meaning.join(' ') };
  return { name, standard: null, ...texts, parse: parseIfGiven, forPeople: null };
}
