/** Which credentials a pull gets, from Docker's own configuration. */

import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';

/** The credentials for a registry. `problem`: credentials are configured and unusable; for a person, without any secret. */
export type RegistryAuth =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'credentials'; readonly authconfig: Readonly<Record<string, string>> }
  | { readonly kind: 'problem'; readonly detail: string };

/** In the form of Docker's API. */
export type AuthConfig = Readonly<Record<string, string>>;

/** Finds the credentials for a registry by its host, `docker.io` for Docker Hub. */
export type FindAuth = (registry: string) => Promise<RegistryAuth>;

/** The path of Docker's client configuration. `explicit`: a setting or variable named this file, so it must exist. */
export interface DockerConfigFile {
  readonly path: string;
  readonly explicit: boolean;
}

/** The setting, else `$DOCKER_CONFIG/config.json`, else `~/.docker/config.json`. */
export function dockerConfigFile(setting: string | undefined, env: NodeJS.ProcessEnv): DockerConfigFile {
  if (setting !== undefined && setting !== '') return { path: setting, explicit: true };
  const folder = env['DOCKER_CONFIG'];
  return {
    path: join(folder !== undefined && folder !== '' ? folder : join(homedir(), '.docker'), 'config.json'),
    explicit: false,
  };
}

/** Reads the file on each use, so that a new login takes effect at once. */
export function createFindAuth(file: DockerConfigFile): FindAuth {
  return async (registry) => {
    const path = await asFile(file.path);
    let text: string;
    try {
      text = await readFile(path, 'utf8');
    } catch (error) {
      const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
      if (missing && !file.explicit) return { kind: 'anonymous' };
      return { kind: 'problem', detail: `cannot read the credentials for ${registry}: ${(error as Error).message}` };
    }
    return authFor(registry, text, path);
  };
}

/** The credentials for a registry in the text of a `config.json`. Pure. `path` is for messages. */
export function authFor(registry: string, text: string, path: string): RegistryAuth {
  const config = parseConfig(text);
  if (config === null) return { kind: 'problem', detail: `${path} is not a Docker config.json` };
  const key = registry === HUB ? HUB_KEY : registry;
  const helper = config.credHelpers?.[key];
  if (helper !== undefined) return refusedHelper(`credHelpers names "${helper}" for ${key}`, path);
  const [written, entry] = entryFor(key, config.auths ?? {}) ?? [key];
  const authconfig = entry === undefined ? null : readEntry(entry, written);
  if (authconfig === 'unreadable') {
    return {
      kind: 'problem',
      detail: `the entry for ${registry} in ${path}: expected "auth" to be user:password in base64`,
    };
  }
  if (authconfig !== null) return { kind: 'credentials', authconfig };
  if (config.credsStore !== undefined && config.credsStore !== '') {
    return refusedHelper(`credsStore is "${config.credsStore}"`, path);
  }
  return { kind: 'anonymous' };
}

const configFile = z.object({
  auths: z
    .record(
      z.string(),
      z.object({
        auth: z.string().optional(),
        username: z.string().optional(),
        password: z.string().optional(),
        identitytoken: z.string().optional(),
        registrytoken: z.string().optional(),
      }),
    )
    .optional(),
  credsStore: z.string().optional(),
  credHelpers: z.record(z.string(), z.string()).optional(),
});
type AuthEntry = NonNullable<z.infer<typeof configFile>['auths']>[string];

function parseConfig(text: string): z.infer<typeof configFile> | null {
  try {
    return configFile.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** Null where the entry is empty, as `docker login` leaves it when a credential store keeps the secret. */
function readEntry(entry: AuthEntry, serveraddress: string): AuthConfig | 'unreadable' | null {
  const login = loginIn(entry);
  if (login === null) return 'unreadable';
  const { identitytoken, registrytoken } = entry;
  const said = Object.entries({ ...login, identitytoken, registrytoken }).filter(
    (field): field is [string, string] => field[1] !== undefined && field[1] !== '',
  );
  return said.length === 0 ? null : { ...Object.fromEntries(said), serveraddress };
}

/** `auth` takes precedence over separate fields. Null where it is not user and password. */
function loginIn({ auth, username, password }: AuthEntry): Pick<AuthEntry, 'username' | 'password'> | null {
  if (!auth) return { username, password };
  const plain = Buffer.from(auth, 'base64').toString('utf8').replaceAll('\0', '');
  const colon = plain.indexOf(':');
  return colon < 1 ? null : { username: plain.slice(0, colon), password: plain.slice(colon + 1) };
}

const HUB = 'docker.io';
/** The key that `docker login` writes for Docker Hub, and the only one that Docker reads for it. */
const HUB_KEY = 'https://index.docker.io/v1/';

/**
 * The entry that Docker's own client takes (docker/cli, config/credentials/file_store.go): the key as it
 * is, letter for letter; else the first key whose host is it, as older clients wrote (`https://registry.local/v1/`). So nothing but
 * its own key is Docker Hub's.
 */
function entryFor(key: string, auths: Readonly<Record<string, AuthEntry>>): readonly [string, AuthEntry] | undefined {
  const exact = auths[key];
  return exact === undefined ? Object.entries(auths).find(([each]) => hostOf(each) === key) : [key, exact];
}

function hostOf(key: string): string {
  const scheme = key.indexOf('://');
  return (scheme === -1 ? key : key.slice(scheme + '://'.length)).split('/', 1)[0] ?? '';
}

function refusedHelper(what: string, path: string): RegistryAuth {
  return {
    kind: 'problem',
    detail: `${what} in ${path}: the gate runs no credential programs. Give it a file with "auths" in TUNEPLANE_DOCKER_CONFIG`,
  };
}

async function asFile(path: string): Promise<string> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  return isFolder ? join(path, 'config.json') : path;
}
