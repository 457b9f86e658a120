import type { CardUuid } from '../../model/card.js';
import type { Clock, Log } from '../../model/ports/outside.js';
import type { GpusSeen, LinkKind, Links, Probed } from '../../model/snapshot.js';
import { inTime } from '../../time/in-time.js';
import { parseTopology, type Matrix } from './parse-topology.js';
import { blindBecause, type ProcessSlot } from './process-slot.js';

/** How the cards are connected. Queried once per driver start, in the background; a look never fails because of it. */
export interface Topology {
  /**
   * What is known after this look at the cards; null where nothing is. Only the very first query is waited for, briefly, so
   * that the first admission after a start has the topology.
   */
  readonly links: (gpus: Probed<GpusSeen>) => Promise<Links | null>;
}

const FIRST_WAIT_MS = 2000;
const AGAIN_AFTER_MS = 60_000;

/** `timeoutMs` limits one `nvidia-smi topo -m`. */
export function createTopology(slot: ProcessSlot, clock: Clock, log: Log, timeoutMs: number): Topology {
  let links: Links | null = null;
  let askedFor: { readonly driverVersion: string | null; readonly at: number } | null = null;
  let wasBlind = false;

  return {
    links: async (gpus) => {
      if (gpus.kind === 'blind') {
        wasBlind = true;
        return links;
      }
      if (!isDue(gpus.value)) return links;
      const first = askedFor === null;
      askedFor = { driverVersion: gpus.value.driverVersion, at: clock.monotonic() };
      wasBlind = false;
      const asking = ask(gpus.value);
      if (first) await inTime(asking, FIRST_WAIT_MS, clock);
      return links;
    },
  };

  /** Links are stored by uuid, so renumbering does not affect them; a card without known links triggers a new query. */
  function isDue(seen: GpusSeen): boolean {
    if (askedFor === null || wasBlind || askedFor.driverVersion !== seen.driverVersion) return true;
    const known = links !== null && seen.rows.every((row) => row.uuid === null || links?.has(row.uuid));
    return !known && clock.monotonic() - askedFor.at >= AGAIN_AFTER_MS;
  }

  async function ask(seen: GpusSeen): Promise<void> {
    const answer = await slot.ask(['topo', '-m'], timeoutMs);
    const matrix = answer.kind === 'exited' && answer.rc === 0 ? parseTopology(answer.stdout) : null;
    if (matrix !== null) links = byUuid(matrix, seen);
    else
      log.warn(
        { detail: blindBecause(answer, 'nvidia-smi topo -m', 0).detail },
        'the links between the cards are not known',
      );
  }
}

/** A matrix uses current indices: these are from the look that requested it. */
function byUuid(matrix: Matrix, seen: GpusSeen): Links {
  const uuids = new Map<number, CardUuid>();
  for (const { index, uuid } of seen.rows) if (index !== null && uuid !== null) uuids.set(index, uuid);
  const links = new Map<CardUuid, ReadonlyMap<CardUuid, LinkKind>>();
  for (const [index, row] of matrix) {
    const from = uuids.get(index);
    if (from !== undefined) links.set(from, toUuids(row, uuids));
  }
  return links;
}

function toUuids(row: ReadonlyMap<number, LinkKind>, uuids: ReadonlyMap<number, CardUuid>): Map<CardUuid, LinkKind> {
  const links = new Map<CardUuid, LinkKind>();
  for (const [index, link] of row) {
    const to = uuids.get(index);
    if (to !== undefined) links.set(to, link);
  }
  return links;
}
