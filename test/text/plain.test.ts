import { describe, expect, test } from 'vitest';
import { isPlain, plain, plainJson, plainLines, plainWithin } from '../../src/text/plain.js';

/** Each with a letter on either side, so that what is left of it shows. */
const UNSEEN: readonly (readonly [string, string])[] = [
  ['a line feed', '\n'],
  ['a carriage return, which writes over the line', '\r'],
  ['a tab', '\t'],
  ['NUL', '\0'],
  ['a bell', '\u0007'],
  ['DEL', '\u007F'],
  ['a C1 control: next line', '\u0085'],
  ['a C1 control: the one-byte CSI, alone', '\u009B\u0001'],
  ['a bidi override', '\u202E'],
  ['a bidi isolate', '\u2066'],
  ['a zero-width space', '\u200B'],
  ['a byte order mark', '\uFEFF'],
  ['a soft hyphen', '\u00AD'],
  ['a line separator', '\u2028'],
  ['a paragraph separator', '\u2029'],
  ['a tag character beyond the first 65,536', '\u{E0041}'],
];

describe('text of others', () => {
  test.each(UNSEEN)('%s becomes a blank, and a run of them one blank', (_says, hidden) => {
    expect(plain(`a${hidden}b`)).toBe('a b');
    expect(plain(`a${hidden}${hidden}b`)).toBe('a b');
    expect(isPlain(`a${hidden}b`)).toBe(false);
  });

  test.each([
    ['a colour', '\u001B[31mred\u001B[0m', 'red'],
    ['a cleared screen', 'a\u001B[2J\u001B[Hb', 'ab'],
    ['a title', '\u001B]0;owned\u0007a', 'a'],
    ['a colour by the one-byte CSI', '\u009B31ma', 'a'],
    ['half a code, at the end', 'a\u001B', 'a '],
  ])('loses %s', (_says, text, left) => expect(plain(text)).toBe(left));

  test('stays as it is where it shows all of itself: other scripts, signs and pictures', () => {
    for (const text of [
      '',
      'GPU is lost.',
      'Größe 5 µm',
      '訓練',
      'обучение',
      'تدريب',
      'a  b',
      '🚀 "x" \\\\ \u00A0',
    ] as const) {
      expect(plain(text)).toBe(text);
      expect(isPlain(text)).toBe(true);
    }
  });

  test('keeps the lines of a longer text, and nothing else', () => {
    expect(plainLines('Error: x\n\tat a\r\n\u202Eat b\u001B[2J')).toBe('Error: x\n\tat a \n at b');
  });

  test('is cut with a sign that it was, blanks around it not counted', () => {
    expect(plainWithin('\n abc \n', 3)).toBe('abc');
    expect(plainWithin('abcd', 3)).toBe('ab…');
  });
});

describe('as JSON', () => {
  test.each(UNSEEN)('%s is written out, and reads as it was', (_says, hidden) => {
    const value = { [`key${hidden}`]: [`a${hidden}b`] };
    const text = plainJson(value);
    expect(isPlain(text)).toBe(true);
    expect(JSON.parse(text)).toEqual(value);
  });

  test('indents where it is told to, and writes nothing as null', () => {
    expect(plainJson({ a: 1 }, 2)).toBe('{\n  "a": 1\n}');
    expect(plainJson(undefined)).toBe('null');
  });
});
