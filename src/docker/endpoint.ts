import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';

/** The address of the Docker Engine. `tls` is the folder with `ca.pem`, `cert.pem` and `key.pem`; null is plain TCP. */
export type DockerEndpoint =
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number; readonly tls: string | null }
  | { readonly kind: 'problem'; readonly detail: string };

/** The text of a file, or null where there is none. */
export type ReadText = (path: string) => string | null;

/**
 * Finds the engine as Docker's own CLI does: `DOCKER_HOST`, else the context of `DOCKER_CONTEXT` or of `config.json`, else
 * `/var/run/docker.sock`. TLS is used when `DOCKER_TLS_VERIFY` or `DOCKER_TLS` is set, with the files in `DOCKER_CERT_PATH`;
 * the server is then always verified. `ssh://` is refused: the gate runs on the machine itself.
 */
export function dockerEndpoint(env: NodeJS.ProcessEnv, home: string, readText: ReadText): DockerEndpoint {
  const configFolder = env['DOCKER_CONFIG'] || join(home, '.docker');
  if (env['DOCKER_HOST']) {
    const withTls = Boolean(env['DOCKER_TLS_VERIFY'] || env['DOCKER_TLS']);
    const tls = withTls ? env['DOCKER_CERT_PATH'] || configFolder : null;
    return parseHost(env['DOCKER_HOST'], tls, 'DOCKER_HOST');
  }
  const context = env['DOCKER_CONTEXT'] || currentContext(readText(join(configFolder, 'config.json')));
  if (context === '' || context === 'default') return DEFAULT;
  return contextEndpoint(context, configFolder, readText);
}

const DEFAULT: DockerEndpoint = { kind: 'unix', path: '/var/run/docker.sock' };

function parseHost(host: string, tls: string | null, from: string): DockerEndpoint {
  if (host === 'unix://') return DEFAULT;
  if (host.startsWith('unix:///')) return { kind: 'unix', path: host.slice('unix://'.length) };
  const [, bracketed, plain, port] =
    /^(?:(?:tcp|https?):\/\/)?(?:\[([^\]]+)\]|([^:/[\]]+))(?::(\d+))?\/?$/.exec(host) ?? [];
  const name = bracketed ?? plain;
  if (name === undefined) {
    return { kind: 'problem', detail: `${from}: expected unix:///path or tcp://host:port, got "${host}"` };
  }
  return { kind: 'tcp', host: name, port: Number(port ?? (tls === null ? 2375 : 2376)), tls };
}

function currentContext(configText: string | null): string {
  const parsed = z.object({ currentContext: z.string().optional() }).safeParse(fromJson(configText));
  return parsed.success ? (parsed.data.currentContext ?? '') : '';
}

/** Docker stores contexts under the SHA-256 of their name. */
function contextEndpoint(name: string, configFolder: string, readText: ReadText): DockerEndpoint {
  const id = createHash('sha256').update(name).digest('hex');
  const path = join(configFolder, 'contexts/meta', id, 'meta.json');
  const parsed = contextMeta.safeParse(fromJson(readText(path)));
  if (!parsed.success) {
    return {
      kind: 'problem',
      detail: `Docker context "${name}": expected its description in ${path}; set DOCKER_HOST instead`,
    };
  }
  const folder = join(configFolder, 'contexts/tls', id, 'docker');
  const tls = readText(join(folder, 'ca.pem')) === null ? null : folder;
  return parseHost(parsed.data.Endpoints.docker.Host, tls, `Docker context "${name}"`);
}

const contextMeta = z.object({
  Endpoints: z.object({ docker: z.object({ Host: z.string() }) }),
});

function fromJson(text: string | null): unknown {
  try {
    return text === null ? null : JSON.parse(text);
  } catch {
    return null;
  }
}
