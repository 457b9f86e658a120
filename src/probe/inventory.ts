import type { GpuRow, GpusSeen, Probed, RememberedCard } from '../model/snapshot.js';

/**
 * Which cards are remembered after a look. A card seen is added, or brought up to date by its uuid; a uuid that was never seen
 * before replaces the one at its bus address: the card was swapped. One that was known elsewhere replaces nobody, since the
 * addresses behind a dead card may move up. What is missing stays, so that it goes on being missed. A look that was blind, a row
 * that broke off and a row without a uuid change nothing.
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
