/** Which folders of this machine a job may be given: below an allowed root, after resolving every link, and never a forbidden one. */

import { normalize } from 'node:path';
import type { FieldError, Mount } from '../model/admission.js';
import { FORBIDDEN_PATHS } from './forbidden-paths.js';
import { isAtOrBelow, type PolicyRules } from './policy-rules.js';
import { matchesAny } from './wildcard.js';

/** The path behind every link; null where there is nothing, or where it may not be looked at. */
export type ResolvePath = (path: string) => Promise<string | null>;

export type MountAnswer =
  | { readonly kind: 'allowed'; readonly mount: Mount }
  | { readonly kind: 'denied'; readonly error: FieldError };

/**
 * Checks one mount. What is allowed carries the resolved path, so that Docker mounts what was looked at even when a link is turned
 * meanwhile. (A folder on the way that is itself replaced by a link between here and the start would still be followed; who can do
 * that has write access to a root already.)
 */
export async function checkMount(
  mount: Mount,
  pointer: string,
  rules: PolicyRules,
  resolve: ResolvePath,
  forbidden: readonly string[],
): Promise<MountAnswer> {
  if (mount.type === 'volume') {
    if (matchesAny(rules.volumes, mount.source)) return { kind: 'allowed', mount };
    return denied(`${pointer}/source`, `the volume ${mount.source} is none of those allowed: ${listed(rules.volumes)}`);
  }
  const source = normalize(mount.source);
  const resolved = await resolve(source);
  const roots = await resolveRoots(rules, resolve);
  const never = await resolveAll([...FORBIDDEN_PATHS, ...forbidden], resolve);
  // First in the path as written: whether there is something at a forbidden or foreign place is nobody's business.
  const wordy = [source, resolved ?? source];
  if (wordy.some((path) => never.some((folder) => isAtOrBelow(folder, path) || isAtOrBelow(path, folder)))) {
    return denied(`${pointer}/source`, `${shown(mount.source)} is, holds or lies in a folder that no job is given`);
  }
  const writtenInside = roots.some(({ root, written }) => isAtOrBelow(root, source) || isAtOrBelow(written, source));
  const root = resolved === null ? undefined : roots.find((candidate) => isAtOrBelow(candidate.root, resolved));
  if (root === undefined || resolved === null) {
    const allowed = listed(rules.mounts.map((rule) => rule.root));
    if (!writtenInside)
      return denied(`${pointer}/source`, `${shown(mount.source)} is below no allowed root: ${allowed}`);
    const why =
      resolved === null
        ? 'does not exist on this machine, or the gate may not look there'
        : 'leads out of the allowed roots through a link';
    return denied(`${pointer}/source`, `${shown(mount.source)} ${why}; allowed: ${allowed}`);
  }
  if (root.readOnly && !mount.readOnly) {
    return denied(`${pointer}/read_only`, `${root.written} may only be mounted with "read_only": true`);
  }
  return { kind: 'allowed', mount: { ...mount, source: resolved } };
}

interface Root {
  readonly written: string;
  readonly root: string;
  readonly readOnly: boolean;
}

/** The roots that are there now, the deepest first, so that a rule for `/data/scratch` comes before the one for `/data`. */
async function resolveRoots(rules: PolicyRules, resolve: ResolvePath): Promise<readonly Root[]> {
  const roots = await Promise.all(
    rules.mounts.map(async ({ root, readOnly }) => {
      const written = normalize(root);
      return {
        written: written.length > 1 ? written.replace(/\/$/, '') : written,
        readOnly,
        root: await resolve(root),
      };
    }),
  );
  return roots
    .flatMap((rule) => (rule.root === null ? [] : [{ ...rule, root: rule.root }]))
    .toSorted((a, b) => b.root.length - a.root.length);
}

/** Both as written and resolved: a forbidden path that is not there now may be there at the start. */
async function resolveAll(paths: readonly string[], resolve: ResolvePath): Promise<readonly string[]> {
  const resolved = await Promise.all(paths.map(resolve));
  return [...paths, ...resolved.filter((path) => path !== null)];
}

function denied(pointer: string, detail: string): MountAnswer {
  return { kind: 'denied', error: { pointer, detail } };
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ');
}

function shown(path: string): string {
  return path.length > 120 ? `${path.slice(0, 120)}…` : path;
}
