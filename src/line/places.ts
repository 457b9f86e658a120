/** The places in line, in memory and in the state folder. */

import type { Decision, JobSpec, Refusal } from '../model/admission.js';
import type { KeptPlace, Place } from '../model/line.js';
import type { Asking, Line, PlaceStore, TakenAway } from '../model/ports/line.js';
import type { Clock } from '../model/ports/outside.js';
import { refuse } from '../model/refuse.js';

export interface PlacesParts {
  readonly clock: Clock;
  readonly store: PlaceStore;
  /** Called when a place has ended or lapsed: the runs behind it may be next. */
  readonly onEnd: () => void;
  /** Called when a place was removed although requests for it are waiting. */
  readonly onTakenAway: (runId: string) => void;
}

export const MOST_PLACES = 1000;
/** A place without requests lapses after the longer of this and three times the `Retry-After` that its caller got. */
const LAPSE_MS = 30_000;

interface Standing {
  kept: KeptPlace;
  /** On the monotonic clock. */
  readonly sinceMs: number;
  readonly asking: Set<OneAsking>;
  lapsesAtMs: number;
}

interface OneAsking {
  takenAway: TakenAway | null;
}

/** `since` of a place is stored by the wall clock, and measured by the monotonic one from then on. */
export function createPlaces(parts: PlacesParts): Line {
  const { clock, store, onEnd } = parts;
  /** In order of `sinceMs`. */
  let line: readonly Standing[] = store.kept
    .map((kept) => ({
      kept,
      sinceMs: clock.monotonic() - Math.max(0, clock.now() - Date.parse(kept.since)),
      asking: new Set<OneAsking>(),
      lapsesAtMs: clock.monotonic() + LAPSE_MS,
    }))
    .toSorted((one, other) => one.sinceMs - other.sinceMs);

  const find = (runId: string): Standing | undefined => line.find(({ kept }) => kept.runId === runId);

  function change(next: readonly Standing[]): void {
    const ended = next.length < line.length;
    line = next;
    store.keep(line.map(({ kept }) => kept));
    if (ended) onEnd();
  }

  function end(standing: Standing): void {
    if (line.includes(standing)) change(line.filter((other) => other !== standing));
  }

  /** Ends a place under those who ask for it now, and tells them why. */
  function takeFrom(standing: Standing, why: TakenAway): void {
    for (const one of standing.asking) one.takenAway = why;
    end(standing);
    parts.onTakenAway(standing.kept.runId);
  }

  /** Removes the places without a request in time. */
  function lapse(): void {
    const nowMs = clock.monotonic();
    const live = line.filter(({ asking, lapsesAtMs }) => asking.size > 0 || nowMs < lapsesAtMs);
    if (live.length < line.length) change(live);
  }

  function toPlace({ kept, sinceMs }: Standing): Place {
    return { ...kept, waitedMs: Math.max(0, clock.monotonic() - sinceMs) };
  }

  return {
    arrive(spec, principal) {
      lapse();
      const there = find(spec.runId);
      if (there !== undefined && there.kept.specSha256 !== spec.specSha256) {
        if (there.kept.principal !== principal) return reused(spec, there.kept);
        takeFrom(there, 'replaced');
      }
      return ask(spec, principal);
    },
    places() {
      lapse();
      return line.map(toPlace);
    },
    place(runId) {
      lapse();
      const at = line.findIndex(({ kept }) => kept.runId === runId);
      return at === -1 ? null : { ...toPlace(line[at] as Standing), position: at + 1 };
    },
    takeAway(runId, why) {
      lapse();
      const standing = find(runId);
      if (standing === undefined) return false;
      takeFrom(standing, why);
      return true;
    },
  };

  function ask(spec: JobSpec, principal: string): Asking {
    const one: OneAsking = { takenAway: null };
    find(spec.runId)?.asking.add(one);
    return {
      get takenAway() {
        return one.takenAway;
      },
      take() {
        if (one.takenAway !== null) return null;
        const there = find(spec.runId);
        if (there !== undefined) {
          there.asking.add(one);
          return null;
        }
        lapse();
        if (line.length >= MOST_PLACES) return full();
        change([...line, newPlace(spec, principal, one)]);
        return null;
      },
      imageHere() {
        const there = find(spec.runId);
        if (there === undefined || there.kept.imageHere) return;
        there.kept = { ...there.kept, imageHere: true };
        change(line);
      },
      done(decision) {
        const there = line.find(({ asking }) => asking.has(one));
        if (there === undefined) return;
        there.asking.delete(one);
        if (!staysInLine(decision)) return end(there);
        const toldMs = 'retryAfterSeconds' in decision ? 1000 * (decision.retryAfterSeconds ?? 0) : 0;
        there.lapsesAtMs = clock.monotonic() + Math.max(LAPSE_MS, 3 * toldMs);
      },
    };
  }

  function newPlace(spec: JobSpec, principal: string, one: OneAsking): Standing {
    const { runId, specSha256, count, container } = spec;
    return {
      kept: {
        runId,
        specSha256,
        count,
        principal,
        image: container.image,
        labels: shortLabels(container.labels),
        since: new Date(clock.now()).toISOString(),
        imageHere: false,
      },
      sinceMs: clock.monotonic(),
      asking: new Set([one]),
      lapsesAtMs: Infinity,
    };
  }
}

/** A thousand places are kept in memory and rewritten as one file, so that what callers write into them is bounded. */
const LABEL_CHARACTERS = 4096;

/** The labels in their order, up to the first that would be too much. */
function shortLabels(labels: Readonly<Record<string, string>>): Record<string, string> {
  const kept: Record<string, string> = {};
  let left = LABEL_CHARACTERS;
  for (const [name, value] of Object.entries(labels)) {
    left -= name.length + value.length;
    if (left < 0) break;
    kept[name] = value;
  }
  return kept;
}

/**
 * Whether the run still waits: its answer was `wait`, or a refusal that passes by itself. A caller that hangs up gives up
 * the request but not the place.
 */
function staysInLine(decision: Decision): boolean {
  if (decision.kind === 'wait' || decision.kind === 'client_gone') return true;
  return decision.kind === 'refused' && PASSES.has(decision.code);
}

const PASSES: ReadonlySet<string> = new Set([
  'docker_unavailable',
  'lock_unavailable',
  'draining',
  'busy',
  'image_pull_failed',
  'internal',
] satisfies readonly Refusal['code'][]);

function reused({ runId }: JobSpec, { principal }: KeptPlace): Refusal {
  return refuse('run_id_reused', {
    detail: `the run ${runId} waits in line with another request, of ${principal}; choose another run_id`,
  });
}

function full(): Refusal {
  return refuse('busy', { detail: `${MOST_PLACES} runs wait in line already; ask again in a moment` });
}
