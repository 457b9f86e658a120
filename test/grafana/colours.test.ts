import { describe, expect, test } from 'vitest';
import { CARD_STATES } from '../../src/model/card.js';
import { STATE_COLOURS } from '../../src/model/colours.js';

type Triple = readonly [number, number, number];
type Matrix = readonly [Triple, Triple, Triple];

/** What eyes make of linear RGB: Machado, Oliveira and Fernandes, 2009, for full loss of one kind of cone. */
const EYES: Readonly<Record<string, Matrix>> = {
  'eyes that see all colours': [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  'red-blind eyes': [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  'green-blind eyes': [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  'blue-blind eyes': [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

const GROUNDS = { light: '#ffffff', dark: '#181b1f' } as const;

describe.each(['light', 'dark'] as const)('on a %s ground', (ground) => {
  const colours = CARD_STATES.map((state) => STATE_COLOURS[state][ground]);

  test.each(Object.entries(EYES))('no two states look alike to %s', (_eyes, matrix) => {
    const seen = colours.map((colour) => oklab(times(matrix, linear(colour))));
    const pairs = seen.flatMap((one, place) => seen.slice(place + 1).map((other) => distance(one, other)));
    // 0.02 is about the least that one sees in OKLab; pure red and pure green are 0.52 apart.
    expect(Math.min(...pairs)).toBeGreaterThan(0.12);
  });

  test.each(CARD_STATES.map((state) => [state, STATE_COLOURS[state][ground]] as const))(
    '%s stands out: 3 to 1 at least',
    (_state, colour) => expect(contrast(colour, GROUNDS[ground])).toBeGreaterThanOrEqual(3),
  );
});

function linear(colour: string): Triple {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return [red, green, blue];
}

function times(matrix: Matrix, [a, b, c]: Triple): Triple {
  const [x = 0, y = 0, z = 0] = matrix.map((row) => Math.min(1, Math.max(0, row[0] * a + row[1] * b + row[2] * c)));
  return [x, y, z];
}

/** Björn Ottosson's OKLab, in which distances are about as the eye sees them. */
function oklab([red, green, blue]: Triple): Triple {
  const long = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
  const middle = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
  const short = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
  return [
    0.2104542553 * long + 0.793617785 * middle - 0.0040720468 * short,
    1.9779984951 * long - 2.428592205 * middle + 0.4505937099 * short,
    0.0259040371 * long + 0.7827717662 * middle - 0.808675766 * short,
  ];
}

const distance = (one: Triple, other: Triple): number => Math.hypot(...one.map((part, at) => part - (other[at] ?? 0)));

function contrast(one: string, other: string): number {
  const [dark = 0, bright = 0] = [one, other].map(luminance).toSorted((a, b) => a - b);
  return (bright + 0.05) / (dark + 0.05);
}

function luminance(colour: string): number {
  const [red, green, blue] = linear(colour);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
