import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cardUuid } from '../../src/model/card.js';
import { cardsOf } from '../../src/model/container-cards.js';
import { LABEL } from '../../src/model/labels.js';
import type { Pinned, RememberedCard, SeenContainer } from '../../src/model/snapshot.js';
import { judge } from '../../src/occupancy/judge.js';
import { parseClaim, withDeviceRequest } from '../../src/runtime/parse-claim.js';
import { blind, container, docker, gpus, remember, row, rules, snapshot, uuidOf } from '../occupancy/make.js';

/** Two faces speak of a container's cards: `/cards` by the judge, `/runs` and every answer by `cardsOf`. They tell the same. */

const HERE = [0, 1, 2, 3];
const REMEMBERED = HERE.map((number) => remember(number));

interface Labels {
  readonly gpus?: string;
  readonly uuids?: string;
}

function labelled({ gpus: indices, uuids }: Labels, given: Pinned = { kind: 'none' }): SeenContainer {
  const labels = {
    ...(indices !== undefined && { [LABEL.gpus]: indices }),
    ...(uuids !== undefined && { [LABEL.gpuUuids]: uuids }),
  };
  const claim = parseClaim(labels);
  return container('job', { labels, claim: claim === null ? null : withDeviceRequest(claim, given) });
}

/** The numbers of the cards that the judge says the container holds. */
function heldIn(one: SeenContainer): readonly (number | null)[] {
  const { cards } = judge(snapshot({ gpus: gpus(HERE.map((number) => row(number))), docker: docker(one) }), rules());
  return cards.filter(({ claims }) => claims.length > 0).map(({ index }) => index);
}

/** The numbers of the cards that an answer names, of those that are here. */
function namedFor(one: SeenContainer, remembered: readonly RememberedCard[] = REMEMBERED): readonly number[] {
  const uuids = cardsOf(one, remembered).flatMap(({ uuid }) => (uuid === null ? [] : [uuid]));
  const numbers = uuids.map((uuid) => HERE.findIndex((number) => uuidOf(number) === uuid));
  return numbers.filter((number) => number !== -1).toSorted((a, b) => a - b);
}

describe('both faces name the same cards of a container', () => {
  test.each<[string, Labels, number[]]>([
    ['the same index in other digits, a word, a number of no card', { gpus: '0,00001,x,12345' }, [0, 1]],
    ['one index twice', { gpus: '1,1' }, [1]],
    ['the beginning of a uuid beside a word that is none', { uuids: 'GPU-aaaa, abc' }, [0]],
    ['words that are no uuids', { uuids: 'abc, 1' }, []],
    ['a uuid in other letters', { uuids: uuidOf(3).toUpperCase() }, [3]],
    ['one uuid twice, in two cases of letters', { uuids: `${uuidOf(3)},${uuidOf(3).toUpperCase()}` }, [3]],
    ['a beginning that all cards share', { uuids: 'GPU-' }, []],
    ['a slice that names its card', { uuids: `MIG-${uuidOf(1)}/1/0` }, [1]],
    ['a slice that hides its card', { uuids: 'MIG-12345678-0000-4000-8000-000000000000' }, []],
    ['uuids win over other indices', { uuids: uuidOf(1), gpus: '3' }, [1]],
    ['uuids win over more indices', { uuids: uuidOf(1), gpus: '2,3' }, [1]],
    ['empty uuids leave it to the indices', { uuids: '', gpus: '2' }, [2]],
    ['stray commas and spaces', { uuids: ` , ${uuidOf(0)} ,,`, gpus: ',, 0' }, [0]],
    ['signs, exponents and other scripts are no numbers', { gpus: '+1,-1,1e0,0x1,\u0661,1.0' }, []],
    ['a number beyond all numbers', { gpus: '9007199254740993' }, []],
    ['nothing', { gpus: '', uuids: '' }, []],
    ['no label at all', {}, []],
  ])('%s', (_says, labels, expected) => {
    const one = labelled(labels);
    expect(heldIn(one)).toEqual(expected);
    expect(namedFor(one)).toEqual(expected);
  });

  test('whatever the labels and the device request say', () => {
    const word = fc.oneof(
      fc.constantFrom('0', '1', '2', '3', '00001', '9', '-1', 'x', '', ' 2 ', '12345', 'all', 'GPU-', '3:0'),
      fc.constantFrom(...HERE.map(uuidOf), uuidOf(0).slice(0, 10), uuidOf(1).toUpperCase(), `MIG-${uuidOf(2)}/1/0`),
      fc.constant(uuidOf(9)),
      fc.string({ maxLength: 6 }),
    );
    const list = fc.array(word, { maxLength: 5 }).map((words) => words.join(','));
    const given = fc.array(word, { maxLength: 4 }).map((ids): Pinned => ({ kind: 'some', ids }));
    fc.assert(
      fc.property(fc.option(list), fc.option(list), fc.option(given), (indices, uuids, pinned) => {
        const labels = { ...(indices !== null && { gpus: indices }), ...(uuids !== null && { uuids }) };
        const one = labelled(labels, pinned ?? { kind: 'none' });
        expect(namedFor(one)).toEqual(heldIn(one));
      }),
      { numRuns: 500, seed: 10 },
    );
  });
});

describe('an answer', () => {
  const name = REMEMBERED[0]!.name;
  const told = (labels: Labels, given?: Pinned, remembered = REMEMBERED) =>
    cardsOf(labelled(labels, given), remembered).map((card) => [card.index, card.uuid, card.name]);

  test.each<[string, ReturnType<typeof told>, [number, string | null, string | null][]]>([
    [
      'puts the index beside the uuid as it was written, though the card has another one today',
      told({ gpus: '7,5', uuids: `${uuidOf(0)},${uuidOf(1)}` }),
      [
        [7, uuidOf(0), name],
        [5, uuidOf(1), name],
      ],
    ],
    [
      'takes today’s index where the lists are not equally long, since nobody knows which belongs to which',
      told({ gpus: '7', uuids: `${uuidOf(0)},${uuidOf(1)}` }),
      [
        [0, uuidOf(0), name],
        [1, uuidOf(1), name],
      ],
    ],
    [
      'takes today’s index where no number was written beside the uuid',
      told({ gpus: 'x,7', uuids: `${uuidOf(0)},${uuidOf(1)}` }),
      [
        [0, uuidOf(0), name],
        [7, uuidOf(1), name],
      ],
    ],
    [
      'tells a card that nobody remembers as it was written',
      told({ gpus: '4', uuids: uuidOf(9) }),
      [[4, cardUuid(uuidOf(9)), null]],
    ],
    ['tells an index that nobody remembers as it was written', told({ gpus: '9' }), [[9, null, null]]],
    [
      'tells a card that label and device request name once',
      told({ gpus: '3' }, { kind: 'some', ids: [uuidOf(3)] }),
      [[3, uuidOf(3), name]],
    ],
    [
      'tells it by its uuid where its index is nobody’s today',
      told({ gpus: '7' }, { kind: 'some', ids: [uuidOf(3)] }),
      [[3, uuidOf(3), name]],
    ],
    [
      'tells such a card by the label where no card was ever seen',
      told({ gpus: '3' }, { kind: 'some', ids: [uuidOf(3)] }, []),
      [[3, null, null]],
    ],
  ])('%s', (_says, cards, expected) => expect(cards).toEqual(expected));
});

test('an index beside a uuid holds the card while a blind driver shows no uuids, and only where the lists agree', () => {
  const heldBlind = (labels: Labels) =>
    judge(snapshot({ gpus: blind(), docker: docker(labelled(labels)) }), rules({ configuredCount: 8 }))
      .cards.filter(({ claims }) => claims.length > 0)
      .map(({ index }) => index);
  const uuids = `${uuidOf(9)},${uuidOf(8)}`;
  expect(heldBlind({ gpus: '4,2', uuids })).toEqual([2, 4]);
  expect(heldBlind({ gpus: '4', uuids })).toEqual([]);
});
