import type { JobSpec } from '../../../src/model/admission.js';
import type { KeptPlace } from '../../../src/model/line.js';
import type { Occupancy } from '../../../src/model/occupancy.js';
import type { Life } from '../process/life.js';

/** Sees what one life of a gate decides by: its line, its last look, and whose requests are in the turn. */
export interface LineWatch {
  /** The places of the line, whenever they change. */
  kept(places: readonly KeptPlace[]): void;
  looked(occupancy: Occupancy): void;
  /** A turn confirms its lock: it has decided just now, by the last look. */
  decided(runs: readonly string[]): void;
  creating(spec: JobSpec): void;
}

export interface LineWatchParts {
  readonly life: Life;
  /** Whether there ever was a container of the run: then its place may want no card any more, by what the gate was told. */
  readonly everHadContainer: (run: string) => boolean;
  readonly overtaken: (detail: string) => void;
}

interface Standing {
  readonly run: string;
  readonly count: number;
  readonly imageHere: boolean;
}

/**
 * Judges each create: no silent place that stood before the run, and fitted then, may have been passed. It keeps the order of
 * the line itself, and counts cards, as all of them are alike here. Where an older place had its own request in the same
 * turn, or a container ever, what the gate knew of it is not known here, and nothing is judged.
 */
export function watchLine({ life, everHadContainer, overtaken }: LineWatchParts): LineWatch {
  const line = new Map<string, Standing>();
  let free = 0;
  let turn: { readonly free: number; readonly runs: ReadonlySet<string>; readonly line: readonly Standing[] } | null =
    null;

  /** How many cards the places before this one leave; null where that cannot be said. */
  function leftFor(
    run: string,
  ): { readonly left: number; readonly passed: readonly string[]; readonly count: number } | null {
    // A turn that lost its lock may still create while the next one decides.
    if (turn === null || !turn.runs.has(run)) return null;
    let left = turn.free;
    const passed: string[] = [];
    for (const { run: older, count, imageHere } of turn.line) {
      if (older === run) return { left, passed, count };
      if (turn.runs.has(older) || everHadContainer(older)) return null;
      if (!imageHere || count > left) continue;
      left -= count;
      passed.push(older);
    }
    return null;
  }

  return {
    kept(places) {
      const there = new Map(places.map((place) => [place.runId, place]));
      for (const run of Array.from(line.keys())) if (!there.has(run)) line.delete(run);
      for (const { runId: run, count, imageHere } of places) line.set(run, { run, count, imageHere });
    },
    looked({ cards }) {
      free = cards.filter(({ state }) => state === 'free').length;
    },
    decided(runs) {
      turn = line.size < 2 ? null : { free, runs: new Set(runs), line: [...line.values()] };
    },
    creating({ runId }) {
      const found = leftFor(runId);
      if (found === null || found.passed.length === 0 || found.count <= found.left) return;
      overtaken(`${life.name} gave ${runId} ${found.count} cards that ${found.passed.join(' and ')}, older, could use`);
    },
  };
}
