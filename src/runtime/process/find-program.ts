/** Finds the program that a command names, before anything is claimed for it. */

import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';

export type FoundProgram =
  /** As a path, so that no shell takes it for a builtin or keyword. */
  { readonly kind: 'found'; readonly path: string } | { readonly kind: 'refused'; readonly words: string };

/** Searches as a shell would: a name on `PATH`, a path from the working folder. */
export async function findProgram(name: string, path: string, workingDir: string): Promise<FoundProgram> {
  if (!(await isFolder(workingDir))) {
    return { kind: 'refused', words: `working_dir ${workingDir}: expected a folder that is there` };
  }
  if (name.includes('/')) {
    const place = isAbsolute(name) ? name : resolve(workingDir, name);
    if (await canRun(place)) return { kind: 'found', path: place };
    return { kind: 'refused', words: `command ${name}: expected a program that is there and may be run` };
  }
  for (const folder of path.split(':')) {
    const place = join(resolve(workingDir, folder), name);
    if (name !== '' && (await canRun(place))) return { kind: 'found', path: place };
  }
  return { kind: 'refused', words: `command ${JSON.stringify(name)}: expected a program on the PATH ${path}` };
}

async function canRun(place: string): Promise<boolean> {
  try {
    await access(place, constants.X_OK);
    return (await stat(place)).isFile();
  } catch {
    return false;
  }
}

async function isFolder(place: string): Promise<boolean> {
  try {
    return (await stat(place)).isDirectory();
  } catch {
    return false;
  }
}
