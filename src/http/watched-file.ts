/** An access file (tokens, policy): reloaded when it changes, and only trusted when nobody else could have written it. */

import type { Clock, Log } from '../model/ports/outside.js';
import type { InForce, RuleFile } from '../model/ports/rule-files.js';
import { readRuleFile, stampOf, type RuleFileRead } from './read-rule-file.js';

/** A file that is part of another: a certificate that a config names. `stamp` null: it could not be read. */
export interface Companion {
  readonly path: string;
  readonly stamp: string | null;
}

/**
 * The result of parsing: the content with warnings about ignored parts, or every problem; each a sentence. A change of a companion
 * is a change of the file.
 */
export type FileContent<T> = { readonly companions?: readonly Companion[] } & (
  | { readonly kind: 'good'; readonly value: T; readonly passedOver?: readonly string[] }
  | { readonly kind: 'bad'; readonly problems: readonly string[] }
);

export interface WatchedFile<T> {
  /** The content in force now. */
  current(): Promise<T>;
  /** The content that was in force at the last check. */
  latest(): T;
}

export type Opened<T> =
  | { readonly kind: 'good'; readonly file: WatchedFile<T> & RuleFile; readonly passedOver: readonly string[] }
  | { readonly kind: 'bad'; readonly problems: readonly string[] };

export interface WatchedFileParts<T> {
  readonly path: string;
  /** Its kind, for metrics and people: `tokens`. */
  readonly name: string;
  readonly understand: (text: string, mode: number) => FileContent<T> | Promise<FileContent<T>>;
  /** The content when the file is missing or empty: nobody may do anything. */
  readonly nothing: T;
  /** Whether the last good content stays in force while the file is unreadable, invalid, or writable by others. */
  readonly keepsLast: boolean;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

/**
 * Reads the file for the first time, and refuses an unusable one with all its problems. Later, every access checks it for
 * changes, so that a removed token is invalid at the next request. Each change is logged once.
 */
export async function openWatchedFile<T>(parts: WatchedFileParts<T>): Promise<Opened<T>> {
  const { clock, log } = parts;
  const first = await read(parts);
  if (first.content.kind === 'bad') return { kind: 'bad', problems: first.content.problems };

  let { stamps } = first;
  let value = first.content.value;
  let inForce = first.inForce;
  let readAtMs = clock.now();
  let reading: Promise<void> | null = null;
  tell(first, log, parts);

  async function readAgain(): Promise<void> {
    const next = await read(parts);
    // A failed read is tried again at each check and logged once.
    const known = next.stamps.some(([, stamp]) => stamp === null) && inForce === next.inForce;
    stamps = next.stamps;
    inForce = next.inForce;
    if (next.content.kind === 'good') value = next.content.value;
    else if (next.inForce === 'nothing') value = parts.nothing;
    if (next.inForce === 'as_written') readAtMs = clock.now();
    if (!known) tell(next, log, parts);
  }

  /** Twice: a caller that joins a read which began before the latest change must not get the old content. */
  async function look(): Promise<void> {
    for (let times = 0; times < 2 && (await haveChanged(stamps)); times += 1) {
      reading ??= readAgain().finally(() => (reading = null));
      await reading;
    }
  }

  const file = {
    look,
    status: () => ({ file: parts.name, inForce, readAtMs }),
    async current() {
      await look();
      return value;
    },
    latest: () => value,
  };
  return { kind: 'good', file, passedOver: first.content.passedOver ?? [] };
}

/** The path of each file that was read, with its stamp; null: to be read again at the next check. */
type Stamps = readonly (readonly [path: string, stamp: string | null])[];

interface Read<T> {
  readonly stamps: Stamps;
  readonly content: FileContent<T>;
  readonly inForce: InForce;
}

async function haveChanged(stamps: Stamps): Promise<boolean> {
  for (const [path, stamp] of stamps) {
    if (stamp === null || (await stampOf(path)) !== stamp) return true;
  }
  return false;
}

async function read<T>(parts: WatchedFileParts<T>): Promise<Read<T>> {
  const came = await readRuleFile(parts.path);
  const stamp = came.kind === 'unreadable' ? null : came.stamp;
  const content = came.kind === 'text' ? await parts.understand(came.text, came.mode) : bad(came.problem);
  const companions = (content.companions ?? []).map((each) => [each.path, each.stamp] as const);
  const stamps = [[parts.path, stamp] as const, ...companions];
  if (content.kind === 'bad') return { stamps, content, inForce: without(came, parts.keepsLast) };
  return { stamps, content, inForce: (content.passedOver ?? []).length === 0 ? 'as_written' : 'in_part' };
}

function without(came: RuleFileRead, keepsLast: boolean): InForce {
  return keepsLast && came.kind !== 'gone' && came.kind !== 'empty' ? 'as_before' : 'nothing';
}

function bad(problem: string): FileContent<never> {
  return { kind: 'bad', problems: [problem] };
}

function tell({ content, inForce }: Read<unknown>, log: Log, { path, name }: { path: string; name: string }): void {
  const problems = content.kind === 'bad' ? content.problems : (content.passedOver ?? []);
  switch (inForce) {
    case 'as_written':
      return log.info({ path }, `the ${name} file is in force as written`);
    case 'in_part':
      return log.error({ path, problems }, `some lines of the ${name} file are invalid and ignored`);
    case 'as_before':
      return log.error({ path, problems }, `the ${name} file cannot be used; its last good content stays in force`);
    case 'nothing':
      return log.error({ path, problems }, `the ${name} file cannot be used; it permits nobody anything now`);
    default:
      return inForce satisfies never;
  }
}
