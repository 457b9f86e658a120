/** The web config file with the files it names: read, checked, and reloaded when any of them changes. */

import { dirname, resolve } from 'node:path';
import type { Clock, Log } from '../../model/ports/outside.js';
import { readRuleFile } from '../read-rule-file.js';
import { openWatchedFile, type Companion, type FileContent, type Opened } from '../watched-file.js';
import { tlsPolicy, type Pems, type TlsPolicy } from './tls-policy.js';
import { parseWebConfig, type TlsServerConfig, type WebConfigText } from './web-config-text.js';

/** What the file says, ready to be used. */
export interface WebConfig {
  /** How TCP connections are served; `nobody`: not at all. */
  readonly connections: TlsPolicy | 'plain' | 'nobody';
  /** Names with bcrypt hashes; empty: no password is asked for. */
  readonly users: ReadonlyMap<string, string>;
  /** Sent with every response over TCP. */
  readonly headers: ReadonlyMap<string, string>;
  /** The certificate, key and CA files that it names; no job may mount them. */
  readonly files: readonly string[];
}

/** While the file is missing or empty. */
const NOBODY: WebConfig = { connections: 'nobody', users: new Map(), headers: new Map(), files: [] };

export interface WebConfigParts {
  readonly path: string;
  /** Whether a config without TLS is rejected. */
  readonly mustHaveTls: boolean;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

/**
 * Opens the file. At the start, a bad one is refused with all its problems. Later the last good version stays in force, and so does
 * the last good certificate; while the file is missing or empty, no TCP connection is served.
 */
export function openWebConfigFile({ path, mustHaveTls, clock, log }: WebConfigParts): Promise<Opened<WebConfig>> {
  return openWatchedFile<WebConfig>({
    path,
    name: 'web_config',
    understand: (text) => understand(path, text, mustHaveTls),
    nothing: NOBODY,
    keepsLast: true,
    clock,
    log,
  });
}

async function understand(path: string, text: string, mustHaveTls: boolean): Promise<FileContent<WebConfig>> {
  const read = parseWebConfig(path, text);
  if (read.kind === 'bad') return read;
  const { tls_server_config: tls } = read.value;
  if (tls === null || tls === undefined || Object.values(tls).every((value) => value === null)) {
    if (!mustHaveTls) return { kind: 'good', value: { ...rest(read.value), connections: 'plain', files: [] } };
    return { kind: 'bad', problems: [`${path}: tls_server_config: missing; ${WHY_TLS}`] };
  }
  const { pems, companions, problems } = await readPems(tls, dirname(path));
  if (problems.length > 0) return { kind: 'bad', problems, companions };
  const policy = tlsPolicy(tls, pems);
  if (!('options' in policy)) return { kind: 'bad', problems: policy.map((each) => `${path}: ${each}`), companions };
  const files = companions.map((each) => each.path);
  return { kind: 'good', value: { ...rest(read.value), connections: policy, files }, companions };
}

const WHY_TLS =
  'TUNEPLANE_LISTEN has an address beyond this machine, where tokens would be sent in clear text ' +
  '(behind a proxy that speaks TLS, TUNEPLANE_PLAIN_HTTP=true allows it)';

function rest({
  basic_auth_users: users,
  http_server_config: http,
}: WebConfigText): Pick<WebConfig, 'users' | 'headers'> {
  const headers = Object.entries(http?.headers ?? {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1] !== '',
  );
  return { users: new Map(Object.entries(users ?? {})), headers: new Map(headers) };
}

async function readPems(
  tls: TlsServerConfig,
  folder: string,
): Promise<{ readonly pems: Pems; readonly companions: readonly Companion[]; readonly problems: readonly string[] }> {
  const companions: Companion[] = [];
  const problems: string[] = [];
  async function from(inline: string | null | undefined, file: string | null | undefined, key: string) {
    if (!file) return inline || null;
    const path = resolve(folder, file);
    const came = await readRuleFile(path);
    companions.push({ path, stamp: came.kind === 'unreadable' ? null : came.stamp });
    if (came.kind === 'text') return came.text;
    problems.push(`tls_server_config: ${key}: ${came.problem}`);
    return null;
  }
  const pems = {
    cert: await from(tls.cert, tls.cert_file, 'cert_file'),
    key: await from(tls.key, tls.key_file, 'key_file'),
    clientCa: await from(tls.client_ca, tls.client_ca_file, 'client_ca_file'),
  };
  return { pems, companions, problems };
}
