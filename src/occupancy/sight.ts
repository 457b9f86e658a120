/** Whether a card could be seen well enough to call it free. */

import type { JudgeRules, UnknownBecause } from '../model/occupancy.js';
import type { GpuRow, GpusSeen, Probed, Readings } from '../model/snapshot.js';
import type { KnownCard } from './known-cards.js';

/**
 * Why a card could not be seen well enough; null where it could. Of several reasons the widest is told: no containers, no
 * driver, no whole row, no permission, no memory. Missing cards and error words are findings of health and none of these.
 */
export function unknownBecause(
  card: KnownCard,
  dockerBlind: boolean,
  rules: Pick<JudgeRules, 'checkExternal'>,
): UnknownBecause | null {
  if (dockerBlind) return 'docker';
  switch (card.sight.kind) {
    case 'unseen':
      return 'blind';
    case 'missing':
      return null;
    case 'broken':
      return card.sight.broken.denied ? 'permission' : null;
    case 'row':
      return ofRow(card.sight.row, rules.checkExternal);
    default:
      return card.sight satisfies never;
  }
}

function ofRow(row: GpuRow, checkExternal: boolean): UnknownBecause | null {
  const { memoryUsedMib, migMode } = row.readings;
  if (row.short || isStrange(migMode)) return 'short_row';
  if (identityDenied(row) || migMode.kind === 'denied') return 'permission';
  // Without the check for outside use nobody asks for memory, so nothing is unknown for want of it.
  if (!checkExternal) return null;
  switch (memoryUsedMib.kind) {
    case 'value':
    case 'error':
      return null;
    case 'denied':
      return 'permission';
    case 'absent':
    case 'cannot_say':
    case 'unreadable':
      return 'memory';
    default:
      return memoryUsedMib satisfies never;
  }
}

/** Text in the MIG column that says neither on nor off nor that there is no such thing: it may be partitioned. */
function isStrange(migMode: Readings['migMode']): boolean {
  if (migMode.kind === 'value') return !/^(?:en|dis)abled$/i.test(migMode.value);
  return migMode.kind === 'unreadable';
}

/**
 * True for a row that does not say which card it is and speaks of permissions, there or for its memory: the driver hides this
 * card, it does not complain about it.
 */
export function identityDenied(row: GpuRow): boolean {
  const { uuid, index, memoryUsedMib } = row.readings;
  return identityHidden(row) && [uuid, index, memoryUsedMib].some((reading) => reading.kind === 'denied');
}

/** True for a whole row without a readable uuid or index. */
export function identityHidden(row: GpuRow): boolean {
  return !row.short && (row.uuid === null || row.index === null);
}

/**
 * Speaks of the memory reading, which alone sees past a container's walls: false when the driver was blind, or when cards
 * were seen and not one of them told its memory. True with the check switched off.
 */
export function externalProbeOk(gpus: Probed<GpusSeen>, rules: Pick<JudgeRules, 'checkExternal'>): boolean {
  if (!rules.checkExternal) return true;
  if (gpus.kind === 'blind') return false;
  const { rows, broken } = gpus.value;
  return rows.length + broken.length === 0 || rows.some(({ readings }) => readings.memoryUsedMib.kind === 'value');
}
