import { expect, test } from 'vitest';
import { checkCards, type CheckedCard } from '../../src/cli/client/card-check.js';

const card = (index: number, but: Partial<CheckedCard> = {}): CheckedCard => ({
  index,
  uuid: `GPU-${index}a`,
  state: 'free',
  unhealthy: [],
  excluded: null,
  unknown_because: null,
  ...but,
});
const ill = card(2, { unhealthy: [{ detail: '3 uncorrected ECC errors' }, { detail: 'Xid 79' }] });
const taken = card(3, { excluded: { by: 'operator', reason: 'fan' } });

test.each<[says: string, cards: CheckedCard[], names: string[] | null, kind: string, words: string]>([
  ['all are fit', [card(0), card(1, { state: 'job_held' })], null, 'ok', '2 cards are fit'],
  ['one is ill, in its own words', [card(0), ill], null, 'unfit', 'card 2: 3 uncorrected ECC errors; card 2: Xid 79'],
  ['one is ill and nobody asks for it', [card(0), ill], ['0'], 'ok', 'card 0 is fit'],
  [
    'one that is held is ill',
    [{ ...ill, state: 'job_held' }],
    ['GPU-2'],
    'unfit',
    'card 2: 3 uncorrected ECC errors; card 2: Xid 79',
  ],
  ['an operator took one out', [taken], null, 'unfit', 'card 3: out by operator: fan'],
  [
    'one is beyond the configured count',
    [card(0, { excluded: { by: 'count', reason: '4' } })],
    null,
    'ok',
    'card 0 is fit',
  ],
  ['one that is asked for is not here', [card(0)], ['0', '9'], 'unfit', 'card 9 is not here'],
  [
    'one could not be seen',
    [card(0), card(1, { unknown_because: 'blind' })],
    null,
    'unknown',
    'card 1 could not be seen: blind',
  ],
  [
    'only its holder is not known',
    [card(0, { state: 'unknown', unknown_because: 'docker' })],
    null,
    'ok',
    'card 0 is fit',
  ],
  ['none is known', [], null, 'unknown', 'no card is known'],
])('%s', (_says, cards, names, kind, words) => expect(checkCards(cards, names)).toEqual({ kind, says: words }));

test('without the driver none is fit, whatever else is not seen either', () => {
  const unseen = card(0, { state: 'unknown', unknown_because: 'docker' });
  expect(checkCards([unseen], null, 'no nvidia-smi')).toEqual({
    kind: 'unknown',
    says: 'the cards could not be seen: no nvidia-smi',
  });
  expect(checkCards([unseen, ill], null, 'no nvidia-smi').kind).toBe('unfit');
});
