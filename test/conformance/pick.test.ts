import { describe, expect, test } from 'vitest';
import { cardIndex } from '../../src/model/card.js';
import { pick } from '../../src/pick/pick.js';
import { readVectors, vectorFiles, type PickVector } from './vectors.js';

const inARow = (cards: readonly number[]) => cards.every((card, at) => at === 0 || card === (cards[at - 1] ?? 0) + 1);

describe.each(vectorFiles('pick'))('the pick vectors ($name)', ({ url }) => {
  const vectors = readVectors(url) as readonly PickVector[];

  test('are there', () => expect(vectors.length).toBeGreaterThanOrEqual(15));

  test.each(vectors.map((vector, at) => ({ ...vector, at })))(
    '$at: $count of the cards $free can be had or not as there, in a row where theirs are',
    ({ free, count, picked }) => {
      const ours = pick(free.map(cardIndex), count, null)?.indices ?? null;
      expect(ours?.length ?? null).toBe(picked?.length ?? null);
      if (ours === null || picked === null) return;
      expect(free).toEqual(expect.arrayContaining([...ours]));
      expect(inARow(ours) || !inARow(picked)).toBe(true);
    },
  );
});
