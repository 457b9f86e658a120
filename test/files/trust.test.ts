import { expect, test } from 'vitest';
import { whyNotTrusted } from '../../src/files/trust.js';

const GATE = 9840;
const modes = (uid: number) =>
  Array.from({ length: 0o1000 }, (_, mode) => mode).filter(
    (mode) => whyNotTrusted({ uid, mode: 0o100000 | mode, isFile: () => true }, GATE) === null,
  );

test("of all modes those are trusted that let nobody but the owner write, and of all owners root and the gate's user", () => {
  const closed = Array.from({ length: 0o1000 }, (_, mode) => mode).filter((mode) => (mode & 0o022) === 0);
  expect(modes(0)).toEqual(closed);
  expect(modes(GATE)).toEqual(closed);
  expect(modes(1000)).toEqual([]);
});

test.each([
  [{ uid: 1000, mode: 0o600 }, "belongs to the user 1000; expected root or the gate's own user, 9840"],
  [{ uid: 0, mode: 0o622 }, 'can be written by others (mode 622); expected 640 or 600'],
  [{ uid: GATE, mode: 0o620 }, 'can be written by others (mode 620); expected 640 or 600'],
])('%j is told why it is not', (stats, words) => {
  expect(whyNotTrusted({ ...stats, isFile: () => true }, GATE)).toBe(words);
  expect(whyNotTrusted({ ...stats, isFile: () => false }, GATE)).toBe('is no file');
});
