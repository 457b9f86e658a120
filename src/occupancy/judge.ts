/** Turns one snapshot into the state of every card, with reasons. Pure. */

import { CARD_STATES, type CardState } from '../model/card.js';
import type { JudgedCard, JudgeRules, Occupancy } from '../model/occupancy.js';
import type { Reading, Snapshot } from '../model/snapshot.js';
import { readClaims, type Claims } from './claims.js';
import { excludedCards, type Exclusions } from './exclusions.js';
import { explain } from './explain.js';
import { externalUse, limitNotes } from './external.js';
import { failedStartNotes } from './failed-starts.js';
import { healthOf } from './health.js';
import { knownCards, type KnownCard } from './known-cards.js';
import { readPins, type Pins } from './pins.js';
import { reportProbes } from './probe-reports.js';
import { whoHolds, type Holding } from './stuck-removals.js';
import { externalProbeOk, unknownBecause } from './visibility.js';

/**
 * Judges every known card: those the driver lists, those it reports as broken, and those that are missing. Doubt never makes
 * a card free, and one bad card never affects another. Same snapshot and rules, same answer.
 */
export function judge(snapshot: Snapshot, rules: JudgeRules): Occupancy {
  const known = knownCards(snapshot.gpus, snapshot.remembered, rules.configuredCount);
  const occupants = {
    claims: readClaims(snapshot.docker, known),
    pins: rules.checkExternal ? readPins(snapshot.docker, known) : NO_PINS,
    exclusions: excludedCards(known, snapshot.exclusions, rules),
  };
  const cards = known.map((card) => judgeCard(card, occupants, snapshot, rules));
  const facts = {
    observedAtMs: snapshot.startedAtMs,
    cards,
    counts: countStates(cards),
    expected: rules.configuredCount > 0 ? rules.configuredCount : cards.length,
    externalProbeOk: externalProbeOk(snapshot.gpus, rules),
    series: nameOfSeries(rules, cards.find((card) => card.name !== null)?.name ?? null),
    probes: reportProbes(snapshot),
    notes: [
      ...occupants.claims.notes,
      ...occupants.pins.notes,
      ...occupants.exclusions.notes,
      ...limitNotes(cards, rules),
      ...remarksOf(snapshot),
      ...failedStartNotes(cards),
    ],
    links: snapshot.links,
  };
  return { ...facts, explain: explain(facts) };
}

/** The program's output besides its rows, each sentence once. */
function remarksOf({ gpus, processRemarks = [] }: Snapshot): readonly string[] {
  return [...new Set([...((gpus.kind === 'seen' && gpus.value.remarks) || []), ...processRemarks])];
}

/** The findings that decide a card's state. */
export type Deciding = Pick<JudgedCard, 'claims' | 'excluded' | 'unhealthy' | 'external' | 'unknownBecause'>;

/** The one state that follows from the findings; first match wins. */
export function stateOf(found: Deciding): CardState {
  if (found.claims.length > 0) return 'job_held';
  if (found.excluded !== null) return 'excluded';
  if (found.unhealthy.length > 0) return 'unhealthy';
  // If the containers are unknown, a load may belong to a job and cannot be called outside use.
  if (found.unknownBecause === 'docker') return 'unknown';
  if (found.external !== null) return 'external';
  if (found.unknownBecause !== null) return 'unknown';
  return 'free';
}

/** The containers and exclusions of all cards, computed once. */
interface Occupants {
  readonly claims: Claims;
  readonly pins: Pins;
  readonly exclusions: Exclusions;
}

const NO_PINS: Pins = { byCard: new Map(), notes: [] };

function judgeCard(card: KnownCard, occupants: Occupants, snapshot: Snapshot, rules: JudgeRules): JudgedCard {
  const health = healthOf(card, rules.checkHealth, snapshot);
  const use = externalUse(card, snapshot, occupants.pins.byCard.get(card) ?? [], rules);
  const claimed = occupants.claims.byCard.get(card) ?? [];
  const holding = whoHolds(claimed, snapshot.stuckRemovals ?? [], card, use, rules);
  const found = {
    claims: holding.claims,
    excluded: occupants.exclusions.byCard.get(card) ?? null,
    unhealthy: health.unhealthy,
    external: use.external,
    unknownBecause: unknownBecause(card, snapshot.docker.kind === 'blind', rules),
  };
  return {
    ...shown(card, snapshot, rules),
    ...found,
    state: stateOf(found),
    health: health.health,
    warnings: [...health.warnings, ...use.warnings, ...holding.warnings],
    warned: { ...health.warned, ...use.warned, ...removalStuck(snapshot, holding) },
    processes: use.processes,
    failedStarts: card.uuid === null ? 0 : (snapshot.failedStarts?.get(card.uuid) ?? 0),
  };
}

/** If the containers were not seen, this is unknown. */
function removalStuck({ docker }: Snapshot, { warnings }: Holding): JudgedCard['warned'] {
  return docker.kind === 'seen' ? { removal_stuck: warnings.length > 0 } : {};
}

const MIB = 1024 * 1024;

/** Displayed only; decides nothing. An unreadable value is null. */
function shown(card: KnownCard, snapshot: Snapshot, rules: JudgeRules) {
  const row = card.evidence.kind === 'row' ? card.evidence.row : null;
  const driver = snapshot.gpus.kind === 'seen' ? snapshot.gpus.value.driverVersion : null;
  const said = row?.readings;
  const persistence = said?.persistenceMode.kind === 'value' ? said.persistenceMode.value : null;
  return {
    index: card.index,
    uuid: card.uuid,
    name: card.name,
    pciBusId: card.pciBusId,
    driverVersion: row?.driverVersion ?? driver,
    series: nameOfSeries(rules, card.name),
    memoryUsedBytes: scaled(said?.memoryUsedMib, MIB),
    memorySizeBytes: scaled(said?.memoryTotalMib, MIB),
    utilization: scaled(said?.utilizationPercent, 1 / 100),
    temperatureCelsius: scaled(said?.temperatureCelsius, 1),
    powerWatts: scaled(said?.powerWatts, 1),
    heldIdleSeconds: null,
    persistenceMode: persistence === 'Enabled' ? true : persistence === 'Disabled' ? false : null,
  };
}

function scaled(reading: Reading<number> | undefined, by: number): number | null {
  return reading?.kind === 'value' ? reading.value * by : null;
}

/** The setting where there is one, else the first card's name, also on a mixed machine. Null while no name is known. */
function nameOfSeries(rules: JudgeRules, name: string | null): string | null {
  return rules.clusterProfile ?? name?.toLowerCase() ?? null;
}

function countStates(cards: readonly JudgedCard[]): Record<CardState, number> {
  const counts = Object.fromEntries(CARD_STATES.map((state) => [state, 0])) as Record<CardState, number>;
  for (const card of cards) counts[card.state] += 1;
  return counts;
}
