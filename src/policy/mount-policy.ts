/** Which folders of this machine a job may mount, such that no other job can replace them by something else meanwhile. */

import type { FieldError, Mount } from '../model/admission.js';
import type { OffLimitsAnswer } from '../model/ports/off-limits.js';
import { changeableParent } from './changeable.js';
import { FORBIDDEN_PATHS } from './forbidden-paths.js';
import { resolvedRoots, standingOf, tidied, writtenRoots, type Root, type Standing } from './mount-roots.js';
import { lookAtPath, type LookAt, type ResolvePath } from './paths-on-disk.js';
import { isAtOrBelow, type PolicyRules } from './policy-rules.js';
import { matchesAny } from './wildcard.js';

export type MountAnswer =
  | { readonly kind: 'allowed'; readonly mount: Mount }
  | { readonly kind: 'denied'; readonly error: FieldError };

/** What a mount is checked against. */
export interface MountGround {
  readonly rules: Pick<PolicyRules, 'mounts' | 'volumes'>;
  /** Forbidden in addition to the paths that are forbidden on any machine. */
  readonly offLimits: OffLimitsAnswer;
  readonly resolve: ResolvePath;
  readonly lookAt?: LookAt;
}

/** Checks the mounts of a container, in order. Where the forbidden paths are unknown, each mount is denied. */
export function checkMounts(mounts: readonly Mount[], ground: MountGround): Promise<readonly MountAnswer[]> {
  return Promise.all(mounts.map((mount, at) => checkMount(mount, `/container/mounts/${at}`, ground)));
}

/**
 * Checks one mount. An allowed mount carries the resolved path, and only root can replace that path before Docker mounts it.
 * So a root that jobs may write is mounted only as a whole, since a job that is root in its container can replace any folder
 * in it by a link, whoever owns the folder; and below a read-only root every folder on the way must belong to root alone.
 */
async function checkMount(mount: Mount, pointer: string, ground: MountGround): Promise<MountAnswer> {
  const { offLimits } = ground;
  if (offLimits.kind !== 'known') {
    const why = `the forbidden paths of this machine are unknown, so nothing may be mounted: ${offLimits.detail}`;
    return denied(`${pointer}/source`, why);
  }
  if (mount.type === 'volume') return checkVolume(mount, pointer, ground.rules.volumes, offLimits.volumes);
  const place = await placeOf(mount.source, ground);
  const forbidden = await isForbidden(place, offLimits.paths, ground.resolve);
  const found = forbidden
    ? 'equals, contains or lies in a folder that no job may mount'
    : await rootFor(place, ground.rules, ground.lookAt ?? lookAtPath);
  if (typeof found === 'string') return denied(`${pointer}/source`, `${shown(mount.source)} ${found}`);
  if (found.root.readOnly && !mount.readOnly) {
    return denied(`${pointer}/read_only`, `${found.root.written} may only be mounted with "read_only": true`);
  }
  return { kind: 'allowed', mount: { ...mount, source: found.path } };
}

function checkVolume(
  mount: Mount,
  pointer: string,
  volumes: readonly string[],
  offLimits: readonly string[],
): MountAnswer {
  if (offLimits.includes(mount.source)) {
    return denied(`${pointer}/source`, `the volume ${mount.source} is the gate's own, which no job may mount`);
  }
  if (matchesAny(volumes, mount.source)) return { kind: 'allowed', mount };
  return denied(
    `${pointer}/source`,
    `the volume ${mount.source} is none of those that TUNEPLANE_POLICY_FILE allows: ${listed(volumes)}`,
  );
}

/** The source of a mount: as written, and with every link resolved; null where it leads nowhere. */
interface Place {
  readonly written: { readonly path: string; readonly standing: Standing };
  readonly resolved: { readonly path: string; readonly standing: Standing } | null;
}

async function placeOf(source: string, { rules, resolve }: MountGround): Promise<Place> {
  const path = tidied(source);
  const written = writtenRoots(rules);
  const resolved = await resolvedRoots(written, resolve);
  const behind = await resolve(path);
  return {
    written: { path, standing: standingOf(path, [...written, ...resolved]) },
    resolved: behind === null ? null : { path: behind, standing: standingOf(behind, resolved) },
  };
}

/** The path as written comes first: whether a forbidden or foreign path exists must not be revealed. */
async function isForbidden(
  { written, resolved }: Place,
  offLimits: readonly string[],
  resolve: ResolvePath,
): Promise<boolean> {
  const asSaid = [...FORBIDDEN_PATHS, ...offLimits];
  // Checked as written too: a path that is missing now may exist when the job starts.
  const never = [...asSaid, ...(await Promise.all(asSaid.map(resolve))).filter((path) => path !== null)];
  const paths = [written.path, resolved?.path ?? written.path];
  return paths.some((path) => never.some((folder) => isAtOrBelow(folder, path) || isAtOrBelow(path, folder)));
}

/** The root that allows a place; the end of a refusal's sentence where none does. */
async function rootFor(
  { written, resolved }: Place,
  rules: MountGround['rules'],
  lookAt: LookAt,
): Promise<{ readonly path: string; readonly root: Root } | string> {
  const allowed = `allowed by TUNEPLANE_POLICY_FILE: ${listed(rules.mounts.map(({ root }) => root))}`;
  if (written.standing.kind === 'in_writable') return inWritable(written.standing.root);
  if (resolved?.standing.kind === 'in_writable') return inWritable(resolved.standing.root);
  if (resolved === null || resolved.standing.kind === 'outside') {
    if (written.standing.kind === 'outside') return `is below no allowed root; ${allowed}`;
    if (resolved !== null) return `leads out of the allowed roots through a link; ${allowed}`;
    return `does not exist on this machine, or the gate may not look there; ${allowed}`;
  }
  const why = await notSure(resolved.path, resolved.standing, lookAt);
  return why === null ? { path: resolved.path, root: resolved.standing.root } : `is not given: ${why}`;
}

/**
 * A root that is listed itself was named by the operator; a folder found inside a listed folder must be safe from
 * replacement.
 */
async function notSure(
  path: string,
  { kind, root }: Extract<Standing, { kind: 'root' | 'below' }>,
  lookAt: LookAt,
): Promise<string | null> {
  if (kind === 'root' && root.kind === 'itself') return null;
  if (kind === 'root' && (await lookAt(path))?.kind !== 'folder') return `${root.written} means folders alone`;
  const changeable = await changeableParent(path, lookAt);
  if (changeable === null) return null;
  const instead = kind === 'below' && root.kind === 'itself' ? `; ${root.written} can be mounted as a whole` : '';
  return `${changeable}, so that it may become a link to anywhere meanwhile${instead}`;
}

function inWritable({ written, kind }: Root): string {
  const each = kind === 'itself' ? ` (the policy can make each folder in it a root: "${written}/*")` : '';
  return `lies in ${written}, which jobs may write, so that it can only be mounted as a whole${each}`;
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
