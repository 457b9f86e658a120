/** The series of each card. */

import { CARD_STATES, HEALTH_REASONS, WARNING_REASONS } from '../model/card.js';
import type { JudgedCard, Occupancy } from '../model/occupancy.js';
import type { FreshPage, Series } from './fresh-page.js';
import type { MeterWithRegistry } from './meter.js';
import { METRICS } from './names.js';

/** Adds the series of every card; an unreadable value has no series. */
export function putCards(
  page: FreshPage,
  occupancy: Occupancy,
  meter: Pick<MeterWithRegistry, 'startFailures' | 'xids'>,
  holders: boolean,
): void {
  const cards = withLabels(occupancy.cards);
  const each = (value: (card: JudgedCard) => number | boolean | null): Series[] =>
    cards.map(({ card, labels }) => [labels, value(card)]);
  const eachReason = <Reason extends string>(
    reasons: readonly Reason[],
    value: (card: JudgedCard, reason: Reason) => boolean | null,
    label: string,
  ): Series[] =>
    cards.flatMap(({ card, labels }) =>
      reasons.map((reason): Series => [{ ...labels, [label]: reason }, value(card, reason)]),
    );

  page.put(
    METRICS.cardState,
    eachReason(CARD_STATES, (card, state) => card.state === state, 'state'),
  );
  page.put(
    METRICS.cardUnhealthy,
    eachReason(HEALTH_REASONS, (card, reason) => card.health[reason] ?? null, 'reason'),
  );
  page.put(
    METRICS.cardWarning,
    eachReason(WARNING_REASONS, (card, reason) => card.warned[reason] ?? null, 'reason'),
  );
  page.put(
    METRICS.cardStartFailures,
    each((card) => (card.uuid === null ? null : meter.startFailures(card.uuid))),
  );
  page.put(METRICS.cardClaims, each(claimsOf(occupancy)));
  page.put(
    METRICS.cardProcesses,
    each((card) => card.processes),
  );
  page.put(
    METRICS.cardMemoryUsed,
    each((card) => card.memoryUsedBytes),
  );
  page.put(
    METRICS.cardMemorySize,
    each((card) => card.memorySizeBytes),
  );
  page.put(
    METRICS.cardUtilization,
    each((card) => card.utilization),
  );
  page.put(
    METRICS.cardTemperature,
    each((card) => card.temperatureCelsius),
  );
  page.put(
    METRICS.cardPower,
    each((card) => card.powerWatts),
  );
  page.put(
    METRICS.cardHeldIdle,
    each((card) => card.heldIdleSeconds),
  );
  page.put(
    METRICS.cardXids,
    cards.flatMap(({ card, labels }) =>
      card.uuid === null
        ? []
        : Array.from(meter.xids(card.uuid), ([code, times]): Series => [{ ...labels, code: String(code) }, times]),
    ),
  );
  page.put(
    METRICS.cardPersistence,
    each((card) => card.persistenceMode),
  );
  page.put(
    METRICS.cardInfo,
    cards.map(({ card, labels }) => [{ ...labels, ...about(card) }, 1]),
  );
  if (!holders) return;
  page.put(
    METRICS.cardHolder,
    cards.flatMap(({ card, labels }) => card.claims.map((claim): Series => [{ ...labels, run_id: claim.runId }, 1])),
  );
}

/** If the containers could not be listed, the number of claims is unknown; 0 would be wrong. */
function claimsOf(occupancy: Occupancy): (card: JudgedCard) => number | null {
  return (card) => (occupancy.probes.docker.state === 'ok' ? card.claims.length : null);
}

function about(card: JudgedCard): Record<string, string> {
  return {
    name: card.name ?? '',
    pci_bus_id: card.pciBusId ?? '',
    driver_version: card.driverVersion ?? '',
    series: card.series ?? '',
  };
}

/**
 * The two labels of every card. Unknown values are empty; where that would give two cards the same pair (both uuid and index
 * unreadable), the later ones are numbered, so that no card hides another.
 */
function withLabels(
  cards: readonly JudgedCard[],
): { readonly card: JudgedCard; readonly labels: { readonly uuid: string; readonly index: string } }[] {
  const taken = new Set<string>();
  return cards.map((card) => {
    const uuid = card.uuid ?? '';
    const known = card.index === null ? '' : String(card.index);
    let index = known;
    for (let copy = 2; taken.has(`${uuid} ${index}`); copy += 1) index = `${known}#${copy}`;
    taken.add(`${uuid} ${index}`);
    return { card, labels: { uuid, index } };
  });
}
