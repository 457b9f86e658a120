/** Claims of containers that the engine has been removing for over an hour: they do not hold an unused card. */

import type { Finding, WarningReason } from '../model/card.js';
import type { Claim, JudgeRules } from '../model/occupancy.js';
import type { Use } from './external.js';
import type { KnownCard } from './known-cards.js';

/** The claims that hold the card, and notes about the others. */
export interface Holding {
  readonly claims: readonly Claim[];
  readonly warnings: readonly Finding<WarningReason>[];
}

/**
 * In doubt the container holds the card: it must be certain that there is no process, no memory and no other container on
 * it. `stuck` are ids of containers.
 */
export function whoHolds(
  claims: readonly Claim[],
  stuck: readonly string[],
  card: KnownCard,
  use: Pick<Use, 'processes' | 'external'>,
  rules: Pick<JudgeRules, 'memoryBusyMib'>,
): Holding {
  const corpses = claims.filter(({ containerId, state }) => state === 'removing' && stuck.includes(containerId));
  if (corpses.length === 0 || !isUnused(card, use, rules)) return { claims, warnings: [] };
  const warnings = corpses.map(({ container }): Finding<WarningReason> => {
    const detail = `container ${container} has been in removing for over an hour and the card shows no use: it holds nothing; docker rm -f, or restart the engine`;
    return { reason: 'removal_stuck', detail };
  });
  return { claims: claims.filter((claim) => !corpses.includes(claim)), warnings };
}

function isUnused(
  { evidence }: KnownCard,
  use: Pick<Use, 'processes' | 'external'>,
  { memoryBusyMib }: Pick<JudgeRules, 'memoryBusyMib'>,
): boolean {
  const memory = evidence.kind === 'row' ? evidence.row.readings.memoryUsedMib : null;
  const seenIdle = memory?.kind === 'value' && memory.value < memoryBusyMib;
  return seenIdle && use.external === null && (use.processes ?? 0) === 0;
}
