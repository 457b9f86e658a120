/** What a check of an installation is, and how all of them run: in parallel, each with a time limit. */

import { errorWords } from '../text/error-words.js';
import { inTime } from '../time/in-time.js';
import { systemClock } from '../time/system-clock.js';

/** `unknown`: could not be determined, which is not the same as fine. `skipped`: there is nothing to check. */
export const FINDING_STATES = ['ok', 'warning', 'error', 'unknown', 'skipped'] as const;
export type FindingState = (typeof FINDING_STATES)[number];

/** What one check found. */
export interface Finding {
  readonly name: string;
  readonly state: FindingState;
  /** The finding as one sentence for the operator. */
  readonly says: string;
  /** What to do about it; null where there is nothing to do. */
  readonly todo: string | null;
}

/** A finding without its name, which is added later. */
export type Verdict = Omit<Finding, 'name'>;

/** One question about the installation. */
export interface Check {
  readonly name: string;
  /** The time limit in milliseconds; after it the finding is `unknown`. */
  readonly limitMs: number;
  readonly ask: () => Promise<Verdict>;
}

const LIMIT_MS = 10_000;

export function check(name: string, ask: Check['ask'], limitMs = LIMIT_MS): Check {
  return { name, limitMs, ask };
}

/** Runs all checks at once. One that fails, throws or never answers hides none of the others; the order is kept. */
export function examine(checks: readonly Check[]): Promise<readonly Finding[]> {
  return Promise.all(
    checks.map(async (each): Promise<Finding> => ({ name: each.name, ...(await answerInTime(each)) })),
  );
}

/** 0: all is well; 1: warnings, or something could not be checked; 2: something is broken. */
export function exitCodeOf(findings: readonly Finding[]): 0 | 1 | 2 {
  if (findings.some(({ state }) => state === 'error')) return 2;
  return findings.some(({ state }) => state === 'warning' || state === 'unknown') ? 1 : 0;
}

export const ok = (says: string): Verdict => ({ state: 'ok', says, todo: null });
export const warning = (says: string, todo: string): Verdict => ({ state: 'warning', says, todo });
export const wrong = (says: string, todo: string): Verdict => ({ state: 'error', says, todo });
export const unknown = (says: string, todo: string | null = null): Verdict => ({ state: 'unknown', says, todo });
export const skipped = (says: string, todo: string | null = null): Verdict => ({ state: 'skipped', says, todo });

async function answerInTime({ ask, limitMs }: Check): Promise<Verdict> {
  try {
    const verdict = await inTime(ask(), limitMs, systemClock);
    return verdict?.value ?? unknown(`no answer within ${limitMs / 1000} s`);
  } catch (error) {
    return unknown(`the check itself failed: ${errorWords(error)}`);
  }
}
