/** The container that the gate itself runs in, and what it mounts from the machine. */

import { readFile } from 'node:fs/promises';
import { isAbsolute, join, relative } from 'node:path';
import type { OffLimits } from '../model/ports/off-limits.js';

/** One entry of `Mounts` in a container's inspect. */
export interface ContainerMount {
  readonly Type: string;
  /** Of a volume. */
  readonly Name?: string | undefined;
  /** The path on the machine. */
  readonly Source: string;
  readonly Destination: string;
}

/** The id of the container that this process runs in; null where it runs in no Docker container. */
export async function ownContainerId(mountInfoFile = '/proc/self/mountinfo'): Promise<string | null> {
  const mountInfo = await readFile(mountInfoFile, 'utf8').catch(() => '');
  // Docker mounts files of its own into each container, from a folder named by the container's id (proc(5): the fourth
  // field).
  return /\/containers\/([0-9a-f]{64})\/(?:hostname|hosts|resolv\.conf) /.exec(mountInfo)?.[1] ?? null;
}

/**
 * The paths on the machine behind these paths of the gate, by its container's mounts; and every volume that the container
 * mounts.
 */
export function asGiven(paths: readonly string[], mounts: readonly ContainerMount[]): OffLimits {
  return {
    paths: paths.flatMap((path) => outside(path, mounts) ?? []),
    volumes: mounts.flatMap(({ Type, Name }) => (Type === 'volume' && Name !== undefined ? [Name] : [])),
  };
}

/** By the deepest mount. Null for a path in no mount: it is among the container's own files. */
function outside(path: string, mounts: readonly ContainerMount[]): string | null {
  const [mount] = mounts
    .filter(({ Destination }) => isIn(Destination, path))
    .toSorted((a, b) => b.Destination.length - a.Destination.length);
  return mount === undefined ? null : join(mount.Source, relative(mount.Destination, path));
}

function isIn(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith('../') && !isAbsolute(way);
}
