/** The decision where a container of this run is there already. */

import type { Decision, JobSpec } from '../model/admission.js';
import type { Books } from '../model/ports/books.js';
import type { CardStore } from '../model/ports/card-store.js';
import type { Clock } from '../model/ports/outside.js';
import { refuse } from '../model/refuse.js';
import type { SeenContainer } from '../model/snapshot.js';
import { inTime } from '../time/in-time.js';
import { pause } from '../time/pause.js';
import { runningAnswer, type KnownAnswer } from './existing-meaning.js';
import type { Launched, Launches } from './starts.js';

export interface KnownParts {
  readonly books: Books;
  readonly cardStore: Pick<CardStore, 'remembered'>;
  readonly clock: Clock;
  readonly launches: Pick<Launches, 'underWay'>;
  readonly settings: { readonly admitTimeoutMs: number; readonly startTimeoutMs: number };
}

/**
 * `gone`: the container went away meanwhile, so look again. `untilMs` is on the monotonic clock, `admitTimeoutMs` after the
 * request came.
 */
export async function decideKnown(
  known: Extract<KnownAnswer, { kind: 'alive' | 'ended' | 'starting' | 'removing' }>,
  spec: JobSpec,
  parts: KnownParts,
  untilMs: number,
  gone: AbortSignal,
): Promise<Decision | 'gone'> {
  const { container } = known;
  const answer = runningAnswer(container, parts.cardStore.remembered());
  switch (known.kind) {
    case 'alive':
      return { kind: 'admitted', replayed: true, ...answer };
    case 'ended':
      return { kind: 'ended', ...answer, run: { ...answer.run, exitCode: await exitCodeOf(container, parts) } };
    case 'starting': {
      const end = parts.launches.underWay(container.id);
      // From when it was asked for, not from when it came to its turn: many who ask for one run at once must not wait in a row.
      const { admitTimeoutMs, startTimeoutMs } = parts.settings;
      const leftMs = Math.max(0, untilMs - admitTimeoutMs + startTimeoutMs - parts.clock.monotonic());
      const launched = end === null ? null : await inTime(end, leftMs, parts.clock);
      return launched === null ? { kind: 'starting', ...answer } : afterLaunch(launched.value, answer, true);
    }
    case 'removing':
      return waitUntilGone(container, spec, parts, untilMs, gone);
    default:
      return known satisfies never;
  }
}

/** The decision once a start has ended. */
export function afterLaunch(
  launched: Launched,
  answer: ReturnType<typeof runningAnswer>,
  replayed: boolean,
): Decision | 'gone' {
  if (launched.kind === 'gone') return 'gone';
  if (launched.kind === 'refused') return launched;
  return { ...answer, kind: 'admitted', replayed, run: { ...answer.run, state: launched.state } };
}

async function exitCodeOf(container: SeenContainer, { books }: KnownParts): Promise<number | null> {
  const details = await books.describe(container);
  return details.kind === 'seen' ? (details.value?.exitCode ?? null) : null;
}

const ASK_EVERY_MS = 200;

async function waitUntilGone(
  container: SeenContainer,
  spec: JobSpec,
  parts: KnownParts,
  untilMs: number,
  gone: AbortSignal,
): Promise<Decision | 'gone'> {
  while (parts.clock.monotonic() < untilMs && !gone.aborted) {
    const listed = await parts.books.findRun(spec.runId);
    if (listed.kind === 'blind')
      return refuse('docker_unavailable', { detail: `the run could not be asked for: ${listed.detail}` });
    if (!listed.value.some(({ id, state }) => id === container.id && state === 'removing')) return 'gone';
    await pause(ASK_EVERY_MS, parts.clock, gone);
  }
  if (gone.aborted) return { kind: 'client_gone' };
  const { cards } = runningAnswer(container, parts.cardStore.remembered());
  return {
    kind: 'wait',
    requested: spec.count,
    free: 0,
    retryAfterSeconds: 5,
    explain: `the earlier container of this run (${container.name}) is still being removed`,
    reasons: [{ code: 'job_held', cards: cards.flatMap(({ index }) => (index === null ? [] : [index])) }],
  };
}
