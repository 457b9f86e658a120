/** Whether enough of a card is visible to call it free. */

import type { JudgeRules, UnknownBecause } from '../model/occupancy.js';
import type { GpuRow, GpusSeen, Probed, Readings } from '../model/snapshot.js';
import type { KnownCard } from './known-cards.js';

/**
 * Why too little of a card is visible; null where enough is. Of several reasons the broadest counts: no containers, no
 * driver, no complete row, no familiar uuid, no permission, no memory. Missing cards and error words are health findings and
 * none of these.
 */
export function unknownBecause(
  card: KnownCard,
  dockerBlind: boolean,
  rules: Pick<JudgeRules, 'checkExternal'>,
): UnknownBecause | null {
  if (dockerBlind) return 'docker';
  switch (card.evidence.kind) {
    case 'unseen':
      return 'blind';
    case 'missing':
      return null;
    case 'broken':
      return card.evidence.broken.denied ? 'permission' : null;
    case 'row':
      return ofRow(card.evidence.row, rules.checkExternal);
    default:
      return card.evidence satisfies never;
  }
}

function ofRow(row: GpuRow, checkExternal: boolean): UnknownBecause | null {
  const { memoryUsedMib, migMode, computeMode } = row.readings;
  if (row.short || isStrange(migMode) || indexOfAnother(row)) return 'short_row';
  if (uuidUnfamiliar(row)) return 'uuid';
  if (identityDenied(row) || migMode.kind === 'denied' || computeMode.kind === 'denied') return 'permission';
  // Without the check for outside use, the memory is not needed, so nothing is unknown for lack of it.
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

/** Text in the MIG column that says neither on, off nor unsupported: the card may be partitioned. */
function isStrange(migMode: Readings['migMode']): boolean {
  if (migMode.kind === 'value') return !/^(?:en|dis)abled$/i.test(migMode.value);
  return migMode.kind === 'unreadable';
}

/**
 * True for a row without an identity that has a permission error there or for its memory: the driver hides this card, but
 * does not report it as broken.
 */
export function identityDenied(row: GpuRow): boolean {
  const { uuid, index, memoryUsedMib } = row.readings;
  return identityHidden(row) && [uuid, index, memoryUsedMib].some((reading) => reading.kind === 'denied');
}

/** True for a complete row whose uuid has another form than a card's (`GPU-…`), as on a Tegra: not an error of the card. */
export function uuidUnfamiliar(row: GpuRow): boolean {
  const { uuid } = row.readings;
  return !row.short && uuid.kind === 'unreadable' && uuid.words !== '';
}

/** True for a complete row without a readable uuid or index. */
export function identityHidden(row: GpuRow): boolean {
  return !row.short && (row.uuid === null || row.index === null);
}

/** True for a row with an index that another card has, whose position does not follow from the other rows. */
export function indexOfAnother(row: GpuRow): boolean {
  return row.index === null && row.readings.index.kind === 'value';
}

/**
 * For the memory reading, the only evidence that works across container boundaries: false when the driver was blind, or when
 * cards were seen and none of them reported memory. True with the check switched off.
 */
export function externalProbeOk(gpus: Probed<GpusSeen>, rules: Pick<JudgeRules, 'checkExternal'>): boolean {
  if (!rules.checkExternal) return true;
  if (gpus.kind === 'blind') return false;
  const { rows, broken } = gpus.value;
  return rows.length + broken.length === 0 || rows.some(({ readings }) => readings.memoryUsedMib.kind === 'value');
}
