/** The health of a card: findings that exclude it, and warnings that do not. */

import { HEALTH_REASONS, WARNING_REASONS, type Finding, type HealthReason, type WarningReason } from '../model/card.js';
import type { Snapshot } from '../model/snapshot.js';
import { columnFindings, type Verdicts } from './column-findings.js';
import { driverFindings } from './driver-errors.js';
import type { KnownCard } from './known-cards.js';
import { xidFinding } from './xids.js';

/** The health of one card. A reason on which the card has no data is in neither record. */
export interface Health {
  readonly unhealthy: readonly Finding<HealthReason>[];
  readonly warnings: readonly Finding<WarningReason>[];
  readonly health: Readonly<Partial<Record<HealthReason, boolean>>>;
  readonly warned: Readonly<Partial<Record<WarningReason, boolean>>>;
}

/**
 * Judged by this snapshot alone, so every column finding clears by itself; an Xid finding stays until the Xid itself is
 * cleared (`model/xid`). With the checks off the health columns are ignored; a card that is missing or returns error words
 * stays unhealthy, since nothing can run on it.
 */
export function healthOf(card: KnownCard, checkHealth: boolean, look: Pick<Snapshot, 'kernel' | 'xids'>): Health {
  const row = card.evidence.kind === 'row' && !card.evidence.row.short ? card.evidence.row : null;
  const verdicts = {
    ...(row === null ? {} : columnFindings(row.readings, checkHealth)),
    ...driverFindings(card, checkHealth),
    ...(checkHealth ? xidFinding(card, look) : {}),
  };
  return {
    unhealthy: findingsOf(HEALTH_REASONS, verdicts),
    warnings: findingsOf(WARNING_REASONS, verdicts),
    health: holding(HEALTH_REASONS, verdicts),
    warned: holding(WARNING_REASONS, verdicts),
  };
}

type Reason = HealthReason | WarningReason;

function findingsOf<R extends Reason>(reasons: readonly R[], verdicts: Verdicts): Finding<R>[] {
  return reasons.flatMap((reason) => {
    const verdict = verdicts[reason];
    return typeof verdict === 'string' ? [{ reason, detail: verdict }] : [];
  });
}

/** For each reason whether it applies; unknown ones are left out. */
function holding<R extends Reason>(reasons: readonly R[], verdicts: Verdicts): Partial<Record<R, boolean>> {
  const said = reasons.filter((reason) => verdicts[reason] !== undefined);
  return Object.fromEntries(said.map((reason) => [reason, verdicts[reason] !== false])) as Partial<Record<R, boolean>>;
}
