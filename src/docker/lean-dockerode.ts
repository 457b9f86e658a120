/** dockerode without the modules that a gate never uses. */

import { createRequire } from 'node:module';
import type Docker from 'dockerode';

/**
 * The files that load gRPC with protobuf (for BuildKit sessions) and SSH. They take more than half of the time to load
 * dockerode 5.0 (138 ms with them, 55 without). The gate builds no images, and refuses `DOCKER_HOST=ssh://` before. In a clone
 * what they load is not installed (`overrides` in package.json); where the gate is a package of another project, it is.
 */
const UNUSED = [
  { of: 'dockerode', file: 'session.js' },
  { of: 'docker-modem', file: 'ssh.js' },
];

/** The class of dockerode. Where its file layout differs from the known version, everything is loaded. */
export function loadDockerode(): typeof Docker {
  const require = createRequire(import.meta.url);
  const fromDockerode = createRequire(require.resolve('dockerode'));
  for (const { of, file } of UNUSED) leaveOut(fromDockerode, of, file);
  return require('dockerode') as typeof Docker;
}

/** Replaces a module that has not been loaded by a function that throws an explanation when called. */
function leaveOut(require: NodeJS.Require, name: string, file: string): void {
  const path = siblingOf(require, name, file);
  if (path === null || require.cache[path] !== undefined) return;
  const notHere = (): never => {
    throw new Error(`${name}/${file} is not loaded in the gate`);
  };
  require.cache[path] = { id: path, filename: path, loaded: true, exports: notHere } as unknown as NodeJS.Module;
}

function siblingOf(require: NodeJS.Require, name: string, file: string): string | null {
  try {
    return createRequire(require.resolve(name)).resolve(`./${file}`);
  } catch {
    return null;
  }
}
