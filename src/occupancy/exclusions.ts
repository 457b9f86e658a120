/** Which cards are excluded on purpose, and by whom. */

import { cardWithIndex, cardWithUuid } from '../model/named-card.js';
import type { ExcludedBecause, JudgeRules } from '../model/occupancy.js';
import type { Exclusion } from '../model/snapshot.js';
import type { KnownCard } from './known-cards.js';

/** The excluded cards, and notes about exclusions that match no card. */
export interface Exclusions {
  readonly byCard: ReadonlyMap<KnownCard, ExcludedBecause>;
  readonly notes: readonly string[];
}

/**
 * If a card has several exclusions, the one that a person gave is shown first: by an operator's call, then by the settings,
 * then by partitioning (MIG), then by a compute mode that admits no process, then by the configured count.
 */
export function excludedCards(
  cards: readonly KnownCard[],
  byOperator: readonly Exclusion[],
  rules: Pick<JudgeRules, 'configuredCount' | 'excludeCards'>,
): Exclusions {
  const bySettings = rules.excludeCards.map((word) => ({ word, card: cardMeant(cards, word) }));
  const byCard = new Map<KnownCard, ExcludedBecause>();
  for (const card of cards) {
    const because =
      operatorsWord(card, byOperator) ??
      settingsWord(bySettings.find((named) => named.card === card)?.word) ??
      partitioned(card) ??
      prohibited(card) ??
      outsideTheCount(card, rules.configuredCount);
    if (because !== null) byCard.set(card, because);
  }
  const notes = [
    ...bySettings
      .filter(({ card }) => card === undefined)
      .map(({ word }) => `TUNEPLANE_EXCLUDE_CARDS names ${word}, which is not here`),
    ...byOperator
      .filter(({ uuid }) => cardWithUuid(cards, uuid) === undefined)
      .map(({ uuid, principal }) => `${uuid}, excluded by ${principal}, is not here`),
  ];
  return { byCard, notes };
}

function cardMeant(cards: readonly KnownCard[], word: string): KnownCard | undefined {
  return /^\d+$/.test(word) ? cardWithIndex(cards, Number(word)) : cardWithUuid(cards, word);
}

function operatorsWord(card: KnownCard, exclusions: readonly Exclusion[]): ExcludedBecause | null {
  const word = exclusions.find(({ uuid }) => cardWithUuid([card], uuid) !== undefined);
  if (word === undefined) return null;
  const { reason, since, principal, until } = word;
  return { by: 'operator', reason, since, principal, until };
}

function settingsWord(word: string | undefined): ExcludedBecause | null {
  return word === undefined ? null : notByName('settings', `TUNEPLANE_EXCLUDE_CARDS names ${word}`);
}

function partitioned(card: KnownCard): ExcludedBecause | null {
  const mode = card.evidence.kind === 'row' ? card.evidence.row.readings.migMode : null;
  if (mode?.kind !== 'value' || mode.value.toLowerCase() !== 'enabled') return null;
  return notByName('mig', 'it is partitioned (MIG is enabled)');
}

/** CUDA refuses every context on it: a job on this card would fail at its first call. */
function prohibited(card: KnownCard): ExcludedBecause | null {
  const mode = card.evidence.kind === 'row' ? card.evidence.row.readings.computeMode : null;
  if (mode?.kind !== 'value' || mode.value.toLowerCase() !== 'prohibited') return null;
  return notByName('compute_mode', 'its compute mode is Prohibited: no program can use it');
}

function outsideTheCount(card: KnownCard, configuredCount: number): ExcludedBecause | null {
  if (configuredCount === 0 || card.index === null || card.index < configuredCount) return null;
  return notByName('count', `the configured count is ${configuredCount}`);
}

/** By the machine or its settings: nobody in particular said so, and it ends with its cause. */
function notByName(by: ExcludedBecause['by'], reason: string): ExcludedBecause {
  return { by, reason, since: null, principal: null, until: null };
}
