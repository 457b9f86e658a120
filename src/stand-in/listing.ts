import { type Numbered, chosenCards, handleError, onBus, shortBusId } from './chosen-cards.js';
import type { Dialect } from './machine/dialect.js';
import { DRIVER_ERRORS } from './machine/driver-errors.js';
import type { Machine } from './machine/machine.js';
import type { Output } from './output.js';

/** `-L`: lists every card, the broken ones too, with its own index. The exit code is that of the last broken card. */
export function listing(machine: Machine, dialect: Dialect, ids: readonly string[] | null): Output {
  const cards = ids === null ? onBus(machine) : chosenCards(machine, dialect, ids);
  if ('rc' in cards) return cards;
  const lines = cards.map((each) => ({ card: each.place, ...lineOf(each) }));
  return { header: '', rows: lines, end: '', rc: lines.findLast(({ rc }) => rc !== 0)?.rc ?? 0 };
}

function lineOf({ card, index }: Numbered): { text: string; rc: number } {
  const handle = handleError(card);
  if (handle !== null) {
    return {
      text: `Unable to determine the device handle for gpu ${shortBusId(card)}: ${handle.sentence}\n`,
      rc: handle.rc,
    };
  }
  if (card.fault?.kind === 'queries' && card.fault.which === 'all') {
    const { word, rc } = DRIVER_ERRORS[card.fault.error];
    return { text: `Unable to determine the product name for gpu ${shortBusId(card)}: ${word}\n`, rc };
  }
  const slices = (card.mig?.devices ?? []).map(
    ({ profile, uuid }, slice) => `  MIG ${profile.padEnd(11)} Device ${String(slice).padStart(2)}: (UUID: ${uuid})\n`,
  );
  return { text: `GPU ${index}: ${card.name} (UUID: ${card.uuid})\n${slices.join('')}`, rc: 0 };
}
