import { expect, test } from 'vitest';
import { cardAt, defaultMachine, healthyMachine } from '../../src/stand-in/machine/build-machine.js';
import { healthyCard } from '../../src/stand-in/machine/card-models.js';
import { readMachine } from '../../src/stand-in/machine/read-machine.js';

test('a built machine comes back from its file as it went in', () => {
  const machine = defaultMachine();
  machine.hang = { at: 2, kinds: ['apps'] };
  machine.raw.list = { kind: 'cut', rows: 1, end: 'and no more\n', rc: 3 };
  cardAt(machine, 4).fault = { kind: 'queries', which: 'dynamic', error: 'timeout' };
  cardAt(machine, 5).columns = { 'temperature.gpu': '[Unknown Error]' };
  expect(readMachine(JSON.stringify(machine))).toEqual(machine);
});

test('what a description leaves out is as on a healthy machine', () => {
  const machine = readMachine(
    '{"driver": "550.163.01", "cards": [{}, {"model": "A100", "ecc": {"uncorrected_volatile": 3}}]}',
  );
  const expected = healthyMachine({ cards: 2, driver: '550.163.01' });
  const a100 = healthyCard('A100', 1);
  expect(machine.cards).toEqual([cardAt(expected, 0), { ...a100, ecc: { ...a100.ecc, uncorrected_volatile: 3 } }]);
  expect({ ...machine, cards: [] }).toEqual({ ...expected, cards: [] });
});

test.each([
  ['no JSON', 'driver: 590', /^machine: expected JSON \(.*\), found "driver: 590"$/],
  ['no object', '[]', 'machine: expected an object, found []'],
  ['no cards', { driver: '590.48.01' }, 'machine.cards: expected a list, found nothing'],
  ['no driver', { cards: [] }, 'machine.driver: expected a text, found nothing'],
  [
    'an old driver',
    { driver: '390.1', cards: [] },
    'machine.driver: expected a driver version from 418 on, as in "590.48.01", found "390.1"',
  ],
  ['a strange key', described({ card: 1 }), /^machine\.card: expected no such key \(known are driver, .*\), found 1$/],
  [
    'a strange key of a card',
    described({ cards: [{ memory: 1 }] }),
    /^machine\.cards\[0\]\.memory: expected no such key/,
  ],
  [
    'an unknown model',
    described({ cards: [{ model: 'H1' }] }),
    /^machine\.cards\[0\]\.model: expected one of H100, .*, found "H1"$/,
  ],
  [
    'a bus id too short',
    described({ cards: [{ bus_id: '4E:00.0' }] }),
    'machine.cards[0].bus_id: expected a bus id as in "00000000:4E:00.0", found "4E:00.0"',
  ],
  [
    'a process without pid',
    described({ cards: [{ processes: [{ name: 'a', memory_mib: 1 }] }] }),
    'machine.cards[0].processes[0].pid: expected a whole number, 0 or more, found nothing',
  ],
  [
    'a fault of no kind',
    described({ cards: [{ fault: 'lost' }] }),
    'machine.cards[0].fault: expected an object, found "lost"',
  ],
  [
    'a fault of an unknown kind',
    described({ cards: [{ fault: { kind: 'ill' } }] }),
    'machine.cards[0].fault.kind: expected one of handle, queries, gone, found "ill"',
  ],
  [
    'an unknown error',
    described({ cards: [{ fault: { kind: 'handle', error: 'ill' } }] }),
    /^machine\.cards\[0\]\.fault\.error: expected one of lost, /,
  ],
  ['an unknown fault', described({ fault: 'fire' }), /^machine\.fault: expected one of driver_not_loaded, /],
  ['a negative delay', described({ delay_ms: -1 }), 'machine.delay_ms: expected a number, 0 or more, found -1'],
  [
    'a delay of an unknown kind',
    described({ delay_ms: { all: 1 } }),
    /^machine\.delay_ms, a key: expected one of gpu, .*, found "all"$/,
  ],
  ['a hang nowhere', described({ hang: {} }), 'machine.hang.at: expected a whole number, 0 or more, found nothing'],
  [
    'a hang of an unknown kind',
    described({ hang: { at: 'init', kinds: ['x'] } }),
    /^machine\.hang\.kinds\[0\]: expected one of gpu, /,
  ],
  [
    'a raw answer without text',
    described({ raw: { list: { kind: 'verbatim', rc: 1 } } }),
    'machine.raw.list.stdout: expected a text, found nothing',
  ],
])('%s is refused, with the key, what was expected and what is there', (_says, given, message) => {
  const json = typeof given === 'string' ? given : JSON.stringify(given);
  expect(() => readMachine(json)).toThrow(message);
});

test('asking for a card that is not there is told at once', () => {
  expect(() => cardAt(healthyMachine({ cards: 2 }), 2)).toThrow('The machine has 2 cards and no card 2');
});

function described(more: object): object {
  return { driver: '590.48.01', cards: [], ...more };
}
