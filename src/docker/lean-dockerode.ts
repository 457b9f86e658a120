/** dockerode without the half of it that a gate never runs. */

import { createRequire } from 'node:module';
import type Docker from 'dockerode';

/**
 * Of its files, those that load gRPC with protobuf (for sessions of BuildKit) and SSH: of the time it takes to load dockerode 5.0
 * they take more than half (138 ms with them, 55 without). Nobody here builds images, and `DOCKER_HOST=ssh://` is refused before.
 */
const UNUSED = [
  { of: 'dockerode', file: 'session.js' },
  { of: 'docker-modem', file: 'ssh.js' },
];

/** The class of dockerode. Where its files lie otherwise than in the version we know, it is loaded whole. */
export function loadDockerode(): typeof Docker {
  const require = createRequire(import.meta.url);
  const fromDockerode = createRequire(require.resolve('dockerode'));
  for (const { of, file } of UNUSED) leaveOut(fromDockerode, of, file);
  return require('dockerode') as typeof Docker;
}

/** Puts a function in the place of a module that has not been loaded; whoever calls it all the same is told so. */
function leaveOut(require: NodeJS.Require, name: string, file: string): void {
  const path = siblingOf(require, name, file);
  if (path === null || require.cache[path] !== undefined) return;
  const notHere = (): never => {
    throw new Error(`${name}/${file} is not loaded in a gate`);
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
