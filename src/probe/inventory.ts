import type { GpuRow, GpusSeen, Probed, RememberedCard } from '../model/snapshot.js';

/**
 * Which cards to remember after a look. A visible card is added, or updated by its uuid; a new uuid replaces the one at its
 * bus address, since the card was swapped. A uuid known from another address replaces none, since the addresses behind a
 * dead card may move up. A card that is not visible stays, so that it is still reported as missing. A blind look, an
 * incomplete row and a row without a uuid change nothing.
 */
export function remember(before: readonly RememberedCard[], gpus: Probed<GpusSeen>): readonly RememberedCard[] {
  if (gpus.kind === 'blind') return before;
  const known = new Map(before.map((card) => [card.uuid, card]));
  const seen = gpus.value.rows.map((row) => toRemembered(row, known)).filter((card) => card !== null);
  const seenUuids = new Set(seen.map((card) => card.uuid));
  const swappedIn = new Set(seen.filter((card) => !known.has(card.uuid)).map((card) => card.pciBusId));
  const missing = before.filter((card) => !seenUuids.has(card.uuid) && !swappedIn.has(card.pciBusId));
  return [...seen, ...missing].toSorted((a, b) => a.index - b.index);
}

function toRemembered(row: GpuRow, known: ReadonlyMap<string, RememberedCard>): RememberedCard | null {
  if (row.short || row.uuid === null) return null;
  const old = known.get(row.uuid);
  const index = row.index ?? old?.index;
  const pciBusId = row.pciBusId ?? old?.pciBusId;
  if (index === undefined || pciBusId === undefined) return null;
  return { uuid: row.uuid, index, name: row.name ?? old?.name ?? null, pciBusId };
}
