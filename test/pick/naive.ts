/** A second, deliberately simple implementation of the preferences, to compare with the real one. */

/** Compares two sets of cards without a topology; below 0 when the first is better. */
export function naiveOrder(free: readonly number[], one: readonly number[], other: readonly number[]): number {
  const keys = [one, other].map((cards) => {
    const rest = new Set(free.filter((card) => !cards.includes(card)));
    const block = (size: number) => new Set(cards.map((card) => Math.floor(card / size))).size;
    const wholeLeft = (size: number) =>
      [...Array(8).keys()].filter((start) =>
        Array.from({ length: size }, (_, at) => start * size + at).every((card) => rest.has(card)),
      ).length;
    const consecutive = cards.every((card) => card === Math.min(...cards) || cards.includes(card - 1));
    const alignment = [8, 4, 2, 1].find((size) => size <= cards.length) ?? 1;
    return [
      consecutive ? 0 : 1,
      block(4),
      block(2),
      -wholeLeft(8),
      -wholeLeft(4),
      -wholeLeft(2),
      Math.min(...cards) % alignment === 0 ? 0 : 1,
      ...cards,
    ];
  });
  const [a = [], b = []] = keys;
  const at = a.findIndex((cost, place) => cost !== b[place]);
  return at === -1 ? 0 : (a[at] ?? 0) - (b[at] ?? 0);
}

/** Every set of `count` of these, each ascending. */
export function subsets(from: readonly number[], count: number): number[][] {
  if (count === 0) return [[]];
  return from.flatMap((first, at) => subsets(from.slice(at + 1), count - 1).map((rest) => [first, ...rest]));
}
