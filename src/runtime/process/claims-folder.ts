/** The folder of claims, which all gates on a machine share: its content, and the few state changes of a claim. */

import { lstat, mkdir, open, readdir, readFile, rename, rm, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { claimFileName, readClaim, readClaimFileName, writeClaim, type Claim, type Standing } from './claim-file.js';

/** A claim and its state. */
export interface Entry {
  readonly claim: Claim;
  readonly standing: Standing;
  /** The prefix of the paths of all its files. */
  readonly prefix: string;
}

export interface ClaimsFolder {
  readonly folder: string;
  /** Every claim. Rejects if any is unreadable, since its cards are then unknown. */
  all(): Promise<readonly Entry[]>;
  /** The claim that has this name now; null where there is none. */
  named(name: string): Promise<Entry | null>;
  byId(id: string): Promise<Entry | null>;
  /** Adds a claim atomically. False where its name is taken. */
  create(claim: Claim): Promise<boolean>;
  /** True for the caller that changed its state; false where it is no longer in the expected state. */
  move(entry: Entry, to: Standing): Promise<boolean>;
  /** Deletes what is left of a claim in state `removing`. Idempotent, and safe to do concurrently. */
  clear(entry: Entry): Promise<void>;
}

/** A claim under construction, which no list shows. */
const NEW = '.new-';
/** How often to retry a claim that changes state while it is read. */
const TRIES = 10;
/** How many files to open at a time. */
const AT_ONCE = 32;

/** The folder must exist; see `usableClaimsFolder`. */
export function claimsFolder(folder: string): ClaimsFolder {
  // A claim's content never changes, so each id is read once.
  let known = new Map<string, Claim>();

  async function entryIn(name: string): Promise<Entry | null> {
    if (name.includes('/')) return null;
    const place = join(folder, name);
    for (let tries = 1; ; tries++) {
      const [found] = (await filesIn(place)).flatMap((file) => {
        const read = readClaimFileName(file);
        return read === null ? [] : [{ ...read, file }];
      });
      if (found === undefined) return null;
      const { id, standing, file } = found;
      const claim = known.get(id) ?? (await contentOf(join(place, file), id));
      if (claim !== null) return { claim, standing, prefix: join(place, id) };
      if (tries === TRIES) throw new Error(`${place} keeps changing`);
    }
  }

  async function names(): Promise<readonly string[]> {
    return (await readdir(folder)).filter((name) => !name.startsWith('.'));
  }

  async function all(): Promise<readonly Entry[]> {
    const there = await names();
    const entries: Entry[] = [];
    for (let at = 0; at < there.length; at += AT_ONCE) {
      const some = await Promise.all(there.slice(at, at + AT_ONCE).map(entryIn));
      entries.push(...some.filter((entry) => entry !== null));
    }
    known = new Map(entries.map(({ claim }) => [claim.id, claim]));
    return entries;
  }

  return {
    folder,
    all,
    named: entryIn,
    async byId(id) {
      const name = known.get(id)?.name;
      const likely = name === undefined ? null : await entryIn(name);
      if (likely?.claim.id === id) return likely;
      return (await all()).find(({ claim }) => claim.id === id) ?? null;
    },

    async create(claim) {
      const building = join(folder, `${NEW}${claim.id}`);
      await mkdir(building, { mode: 0o700 });
      try {
        const file = join(building, claimFileName(claim.id, { kind: 'created' }));
        await toDisk(file, 'wx', writeClaim(claim));
        await toDisk(building, 'r');
        // The kernel refuses to rename onto a non-empty folder, but not onto an empty one (rename(2)).
        await rename(building, join(folder, claim.name));
      } catch (error) {
        await rm(building, { recursive: true, force: true });
        if (isCode(error, 'ENOTEMPTY', 'EEXIST')) return false;
        throw error;
      }
      known.set(claim.id, claim);
      await toDisk(folder, 'r').catch(() => undefined);
      return true;
    },

    move: ({ claim, standing, prefix }, to) => {
      const place = prefix.slice(0, -claim.id.length);
      return happens(rename(place + claimFileName(claim.id, standing), place + claimFileName(claim.id, to)));
    },

    async clear({ claim, prefix }) {
      const place = prefix.slice(0, -claim.id.length);
      const last = claimFileName(claim.id, { kind: 'removing' });
      // By this id only: a new claim may have the name by now. The claim file goes last, so that an interrupted removal is
      // found again.
      const files = (await filesIn(place)).filter((file) => file.startsWith(`${claim.id}.`) && file !== last);
      for (const file of [...files, last]) await happens(unlink(join(place, file)));
      await rmdir(place).catch((error: unknown) => {
        if (!isCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOENT')) throw error;
      });
    },
  };

  /** Null when the file has been renamed or removed since it was listed. */
  async function contentOf(file: string, id: string): Promise<Claim | null> {
    try {
      const claim = readClaim(await readFile(file, 'utf8'), id);
      known.set(id, claim);
      return claim;
    } catch (error) {
      if (isCode(error, 'ENOENT')) return null;
      throw new Error(`${file}: ${(error as Error).message}`, { cause: error });
    }
  }
}

export type UsableClaimsFolder =
  | { readonly kind: 'usable' }
  /** What is wrong and what to do, for the operator. */
  | { readonly kind: 'refused'; readonly detail: string };

/**
 * Creates the folder (0700) where it is missing, and deletes unfinished claims of creates that died. Refuses a folder that
 * others can write: whoever writes a claim can run its command.
 */
export async function usableClaimsFolder(folder: string, nowMs: number): Promise<UsableClaimsFolder> {
  try {
    await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
      if (!isCode(error, 'EEXIST')) throw error;
    });
    const { mode, uid } = await lstat(`${folder}/`);
    if ((mode & 0o022) !== 0 || uid !== process.geteuid?.()) {
      const found = `mode ${(mode & 0o777).toString(8)}, owner ${uid}`;
      return refused(
        `${folder} must belong to user ${process.geteuid?.()} and nobody else may write it, since anyone who can may have commands run: found ${found}; expected mode 700`,
      );
    }
    for (const name of (await readdir(folder)).filter((each) => each.startsWith(NEW))) {
      const { mtimeMs } = await lstat(join(folder, name));
      if (nowMs - mtimeMs > HALF_MADE_MS) await rm(join(folder, name), { recursive: true, force: true });
    }
    return { kind: 'usable' };
  } catch (error) {
    return refused(`the folder for the claims cannot be used: ${(error as Error).message}`);
  }
}

/** A create takes milliseconds; one this old has died. */
const HALF_MADE_MS = 10 * 60_000;

function refused(detail: string): UsableClaimsFolder {
  return { kind: 'refused', detail };
}

/** Empty where the folder does not exist. */
async function filesIn(place: string): Promise<readonly string[]> {
  try {
    return await readdir(place);
  } catch (error) {
    if (isCode(error, 'ENOENT', 'ENOTDIR')) return [];
    throw error;
  }
}

/** Writes a new file through to the disk; without a text, only syncs the folder's entries. */
async function toDisk(path: string, flags: 'wx' | 'r', text?: string): Promise<void> {
  const handle = await open(path, flags, 0o600);
  try {
    if (text !== undefined) await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** False where the file no longer existed. */
async function happens(done: Promise<void>): Promise<boolean> {
  try {
    await done;
    return true;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return false;
    throw error;
  }
}

function isCode(error: unknown, ...codes: readonly string[]): boolean {
  return codes.includes((error as NodeJS.ErrnoException).code ?? '');
}
