/** The mount roots of a policy: which of them a path is, lies in, or is excluded by. */

import { dirname, normalize } from 'node:path';
import type { ResolvePath } from './paths-on-disk.js';
import type { PolicyRules } from './policy-rules.js';

export interface Root {
  /** As written in the policy. */
  readonly written: string;
  /** `each`: every folder directly in `folder` is a root; `itself`: `folder` is one. */
  readonly kind: 'itself' | 'each';
  readonly folder: string;
  readonly readOnly: boolean;
}

/** How a path relates to the roots. */
export type Standing =
  /** Is a root. */
  | { readonly kind: 'root'; readonly root: Root }
  /** Lies below a read-only root; the deepest such one. */
  | { readonly kind: 'below'; readonly root: Root }
  /** Lies below a root that jobs may write, where they can replace any folder by a link. */
  | { readonly kind: 'in_writable'; readonly root: Root }
  | { readonly kind: 'outside' };

/** The roots as the policy writes them, not resolved. */
export function writtenRoots({ mounts }: Pick<PolicyRules, 'mounts'>): readonly Root[] {
  return mounts.map(({ root: written, readOnly }) => {
    const each = written.endsWith('/*');
    const folder = tidied(each ? written.slice(0, -2) : written);
    return { written, kind: each ? 'each' : 'itself', folder, readOnly };
  });
}

/** The roots that exist now, with links resolved. */
export async function resolvedRoots(roots: readonly Root[], resolve: ResolvePath): Promise<readonly Root[]> {
  const resolved = await Promise.all(roots.map(async (root) => ({ root, folder: await resolve(root.folder) })));
  return resolved.flatMap(({ root, folder }) => (folder === null ? [] : [{ ...root, folder }]));
}

/** How this path relates to these roots: either both as written, or both resolved. */
export function standingOf(path: string, roots: readonly Root[]): Standing {
  const above = ancestorsOf(path).flatMap((folder) => rootAt(folder, roots) ?? []);
  const writable = above.find(({ readOnly }) => !readOnly);
  if (writable !== undefined) return { kind: 'in_writable', root: writable };
  const own = rootAt(path, roots);
  if (own !== undefined) return { kind: 'root', root: own };
  const deepest = above.at(-1);
  return deepest === undefined ? { kind: 'outside' } : { kind: 'below', root: deepest };
}

/** Every folder on the way to a path, from `/` on, without the path itself. */
export function ancestorsOf(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === path ? [] : [...ancestorsOf(parent), parent];
}

/** Without double slashes, `.`, `..` and a trailing slash. */
export function tidied(path: string): string {
  const whole = normalize(path);
  return whole.length > 1 && whole.endsWith('/') ? whole.slice(0, -1) : whole;
}

/** A root listed by itself comes before one from a `/*` pattern. */
function rootAt(path: string, roots: readonly Root[]): Root | undefined {
  return (
    roots.find(({ kind, folder }) => kind === 'itself' && folder === path) ??
    roots.find(({ kind, folder }) => kind === 'each' && path !== folder && dirname(path) === folder)
  );
}
