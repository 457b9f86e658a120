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
  const isThisOne = (key: string) => hostOf(key) === hostOf(registry);
  const helper = Object.entries(config.credHelpers ?? {}).find(([key]) => isThisOne(key))?.[1];
  if (helper !== undefined) return refusedHelper(`credHelpers names "${helper}" for ${registry}`, path);
  const entry = Object.entries(config.auths ?? {}).find(([key]) => isThisOne(key))?.[1];
  const authconfig = entry === undefined ? null : readEntry(entry, registry);
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
function readEntry(entry: AuthEntry, registry: string): Readonly<Record<string, string>> | 'unreadable' | null {
  const serveraddress = hostOf(registry) === HUB ? HUB_KEY : registry;
  if (entry.identitytoken) return { identitytoken: entry.identitytoken, serveraddress };
  if (entry.registrytoken) return { registrytoken: entry.registrytoken, serveraddress };
  if (entry.username && entry.password) return { username: entry.username, password: entry.password, serveraddress };
  if (!entry.auth) return null;
  const plain = Buffer.from(entry.auth, 'base64').toString('utf8').replaceAll('\0', '');
  const colon = plain.indexOf(':');
  if (colon < 1) return 'unreadable';
  return { username: plain.slice(0, colon), password: plain.slice(colon + 1), serveraddress };
}

const HUB = 'index.docker.io';
/** The key that `docker login` writes for Docker Hub. */
const HUB_KEY = 'https://index.docker.io/v1/';

/**
 * Keys are hosts, which ignore case, or URLs from older clients: `https://registry.local/v1/`. Only the exact spelling
 * `docker.io` is Docker Hub: for any other spelling Docker asks a registry at the host of that name.
 */
function hostOf(key: string): string {
  const [host = ''] = key.replace(/^https?:\/\//, '').split('/');
  return host === 'docker.io' || host === 'registry-1.docker.io' ? HUB : host.toLowerCase();
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
