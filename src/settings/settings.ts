/** Turns environment and flags into settings, or reports every problem at once. Pure: same texts and facts, same answer. */

import { isLocal, writeAddress } from './addresses.js';
import { CLIENT_VARIABLES, TOKEN_FILE_VARIABLE } from './client-variables.js';
import { readFlags } from './flags.js';
import { nearest } from './nearest.js';
import { flagOf, SETTINGS, type Setting, type SettingKey, type TableValues } from './table.js';

/** Facts about the machine that the settings depend on. */
export interface Facts {
  /** Whether a person reads the log: standard error is a terminal. */
  readonly terminal: boolean;
}

/**
 * Every setting of the gate, parsed and validated. The table says what each means; units are in the names. Null: not set,
 * and the part that uses it has its own default (`stateDir`, `dockerConfig`, `instanceId`) or does without.
 */
export type Settings = Omit<TableValues, 'logFormat' | 'excludeCards' | 'allowedHosts'> & {
  readonly logFormat: 'json' | 'pretty';
  readonly excludeCards: readonly string[];
  readonly allowedHosts: readonly string[];
};

/** Valid settings, or every problem; each names the setting, what came and what was expected. */
export type SettingsRead =
  | { readonly kind: 'ok'; readonly settings: Settings; readonly warnings: readonly string[] }
  | { readonly kind: 'problems'; readonly problems: readonly string[] };

/** The environment, as `process.env` has it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads every setting: from its flag, else from the environment, else its default. */
export function readSettings(env: Environment, argv: readonly string[], facts: Facts): SettingsRead {
  const flags = readFlags(argv);
  const problems = [...flags.problems];
  const values: Partial<Record<SettingKey, unknown>> = {};
  for (const [key, setting] of SETTINGS) {
    const came = flags.texts.get(key) ?? env[setting.name];
    const text = came ?? setting.standard;
    const parsed = text === null ? { kind: 'value' as const, value: null } : setting.parse(text);
    if (parsed.kind === 'value') values[key] = parsed.value;
    else
      problems.push(`${where(setting, flags.texts.has(key))} is ${shown(setting, text)}: expected ${parsed.expected}`);
  }
  // Keys are missing where a value was invalid; each check looks only at what is there.
  problems.push(...contradictions(values as Partial<TableValues>));
  if (problems.length > 0) return { kind: 'problems', problems };
  const read = values as TableValues;
  const settings: Settings = {
    ...read,
    logFormat: read.logFormat ?? (facts.terminal ? 'pretty' : 'json'),
    excludeCards: read.excludeCards ?? [],
    allowedHosts: read.allowedHosts ?? [],
  };
  return { kind: 'ok', settings, warnings: [...unknownNames(env), ...mistaken(env, read), ...doubtful(read)] };
}

function where(setting: Setting<unknown>, byFlag: boolean): string {
  return byFlag ? flagOf(setting.name) : setting.name;
}

/** The value that came, in quotes, shortened where it is long. */
function shown(setting: Setting<unknown>, text: string | null): string {
  if (text === null) return 'not set';
  if (setting.forPeople !== null) return setting.forPeople(text);
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
}

/** Values that are valid alone and contradict each other. */
function contradictions(values: Partial<TableValues>): string[] {
  const problems: string[] = [];
  if (values.processes !== undefined && values.processes > 1 && values.redisUrl === null) {
    problems.push(
      `TUNEPLANE_PROCESSES is "${values.processes}" and TUNEPLANE_REDIS_URL is not set: ` +
        'expected a Redis that all allocating processes of this machine share, or 1 process',
    );
  }
  if ((values.processes ?? 1) > 1 && values.instanceId !== undefined && values.instanceId !== null) {
    problems.push(
      `TUNEPLANE_INSTANCE_ID is "${values.instanceId}" and TUNEPLANE_PROCESSES is "${values.processes}": expected no ` +
        'id where several gates run, since two that read one environment file would remove the claims of each other',
    );
  }
  if (values.listen !== undefined && values.tokensFile === null) {
    for (const address of values.listen.filter((each) => !isLocal(each))) {
      problems.push(
        `TUNEPLANE_LISTEN is "${writeAddress(address)}" and TUNEPLANE_TOKENS_FILE is not set: expected a tokens file, ` +
          'since whoever can call may start containers, or a loopback address or unix:/path ' +
          '(to be scraped from afar, TUNEPLANE_METRICS_LISTEN serves the metrics alone)',
      );
    }
  }
  if (values.listen !== undefined && values.webConfigFile === null && values.plainHttp === false) {
    for (const address of values.listen.filter((each) => !isLocal(each))) {
      problems.push(
        `TUNEPLANE_LISTEN is "${writeAddress(address)}" and TUNEPLANE_WEB_CONFIG_FILE is not set: expected TLS, since tokens ` +
          'would cross the network in clear text, or TUNEPLANE_PLAIN_HTTP=true behind a proxy that speaks it',
      );
    }
  }
  const metrics = new Set((values.metricsListen ?? []).map(writeAddress));
  for (const address of (values.listen ?? []).map(writeAddress)) {
    if (metrics.has(address) && !address.endsWith(':0')) {
      problems.push(`TUNEPLANE_METRICS_LISTEN is "${address}", as TUNEPLANE_LISTEN: expected another address`);
    }
  }
  if (values.runtime === 'process' && (values.processes ?? 1) > 1 && values.claimsDir === null) {
    problems.push(
      `TUNEPLANE_PROCESSES is "${values.processes}" with the process runtime and TUNEPLANE_CLAIMS_DIR is not set: ` +
        'expected one folder for the claims of all gates of this machine, or they do not see each other',
    );
  }
  return problems;
}

/**
 * Variables that look like ours and are not. Their values are not printed: one that belongs to other software may be a
 * secret.
 */
function unknownNames(env: Environment): string[] {
  const known = SETTINGS.map(([, { name }]) => name);
  return Object.keys(env)
    .filter((name) => name.toUpperCase().startsWith('TUNEPLANE_') && ![...known, ...CLIENT_VARIABLES].includes(name))
    .toSorted()
    .map((name) => `${name} is not known here and has no effect: the nearest known one is ${nearest(name, known)}`);
}

/** The client's token variable is one letter away from the server's, and leaves the gate without any token. */
function mistaken(env: Environment, read: TableValues): string[] {
  if (env[TOKEN_FILE_VARIABLE] === undefined || read.tokensFile !== null) return [];
  return [
    `${TOKEN_FILE_VARIABLE} has no effect here, it is for the commands that query a gate;  ` +
      'callers are listed in TUNEPLANE_TOKENS_FILE, which is not set',
  ];
}

/** What works but is likely not intended. */
function doubtful(read: TableValues): string[] {
  const warnings: string[] = [];
  if (read.redisPasswordFile !== null && read.redisUrl === null) {
    warnings.push('TUNEPLANE_REDIS_PASSWORD_FILE has no effect: TUNEPLANE_REDIS_URL is not set');
  }
  if (read.redisPasswordFile !== null && read.redisUrl !== null && new URL(read.redisUrl).password !== '') {
    warnings.push('TUNEPLANE_REDIS_URL holds a password that has no effect: TUNEPLANE_REDIS_PASSWORD_FILE is set');
  }
  if (read.runtime === 'docker' && read.claimsDir !== null) {
    warnings.push('TUNEPLANE_CLAIMS_DIR has no effect: the containers are the claims, TUNEPLANE_RUNTIME is docker');
  }
  if (read.runtime === 'process' && read.policyFile !== null) {
    warnings.push('of TUNEPLANE_POLICY_FILE only max.cards has an effect: TUNEPLANE_RUNTIME is process');
  }
  if (read.tokensFile !== null && read.allowedHosts !== null) {
    warnings.push('TUNEPLANE_ALLOWED_HOSTS has no effect: with a tokens file the token decides, not the Host header');
  }
  if (read.claimGraceS < read.startTimeoutS) {
    warnings.push(
      `TUNEPLANE_CLAIM_GRACE_S is ${read.claimGraceS}, less than TUNEPLANE_START_TIMEOUT_S (${read.startTimeoutS}): ` +
        'another gate may remove a container as a left-over while it is being started here',
    );
  }
  return warnings;
}
