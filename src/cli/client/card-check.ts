/** Whether cards are fit for work, by what a look found. Pure. */

export interface CheckedCard {
  readonly index: number | null;
  readonly uuid: string | null;
  readonly state: string;
  readonly unhealthy: readonly { readonly detail: string }[];
  readonly excluded: { readonly by: string; readonly reason: string } | null;
  readonly unknown_because?: string | null | undefined;
}

/** `unfit`: something is wrong with one of them. `unknown`: one could not be seen well enough to say. */
export interface CardCheck {
  readonly kind: 'ok' | 'unfit' | 'unknown';
  /** One line. */
  readonly says: string;
}

/** An exclusion counts where somebody or the card itself says that nothing should run on it; a count or a list of settings does not. */
const UNFIT_BY = new Set(['operator', 'compute_mode']);
/** Who holds the cards is none of this: without the containers their health is known all the same. */
const ABOUT_HOLDERS = new Set(['docker']);

/**
 * `names`: indices or uuids, or the beginning of one; null: all cards. One that is not there is unfit. `blind`: why the driver told
 * nothing, null where it did; a card's own reason names only the broadest, which may be that the containers were not seen.
 */
export function checkCards(
  cards: readonly CheckedCard[],
  names: readonly string[] | null,
  blind: string | null = null,
): CardCheck {
  const asked = names === null ? cards : cards.filter((card) => names.some((name) => isMeant(card, name)));
  const absent = (names ?? []).filter((name) => !cards.some((card) => isMeant(card, name)));
  const unfit = [
    ...absent.map((name) => `card ${name} is not here`),
    ...asked.flatMap((card) => troubleOf(card).map((trouble) => `${named(card)}: ${trouble}`)),
  ];
  if (unfit.length > 0) return { kind: 'unfit', says: unfit.join('; ') };
  if (blind !== null) return { kind: 'unknown', says: `the cards could not be seen: ${blind}` };
  const unseen = asked.filter(({ unknown_because: why }) => why != null && !ABOUT_HOLDERS.has(why));
  if (unseen.length > 0) {
    return {
      kind: 'unknown',
      says: unseen.map((card) => `${named(card)} could not be seen: ${card.unknown_because}`).join('; '),
    };
  }
  if (asked.length === 0) return { kind: 'unknown', says: 'no card is known' };
  return {
    kind: 'ok',
    says: asked.length === 1 ? `${named(asked[0] as CheckedCard)} is fit` : `${asked.length} cards are fit`,
  };
}

function isMeant({ index, uuid }: CheckedCard, name: string): boolean {
  if (/^\d+$/.test(name)) return index === Number(name);
  return uuid?.toLowerCase().startsWith(name.toLowerCase()) === true;
}

function troubleOf({ unhealthy, excluded }: CheckedCard): readonly string[] {
  const out = excluded !== null && UNFIT_BY.has(excluded.by) ? [`out by ${excluded.by}: ${excluded.reason}`] : [];
  return [...unhealthy.map(({ detail }) => detail), ...out];
}

function named({ index, uuid }: CheckedCard): string {
  return `card ${index ?? uuid ?? 'without a number'}`;
}
