import { posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { files, read } from './documents.js';
import { anchorsOf } from './markdown.js';

const page = read('src/README.md');
const sources = files().filter((path) => path.startsWith('src/') && path.endsWith('.ts'));

/** The first column of the table of the rooms. */
const rooms = (page.split('## The rooms\n')[1]?.split('\n## ')[0] ?? '')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .flatMap((line) => [...(line.split(' | ')[0] ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));

describe('src/README.md', () => {
  test('has a line for each folder and for each file at the top, and for nothing else', () => {
    const folders = sources.map((path) => posix.relative('src', posix.dirname(path))).filter((folder) => folder !== '');
    const atTop = sources.filter((path) => posix.dirname(path) === 'src').map((path) => posix.basename(path));
    const there = [...new Set(folders)].map((folder) => `${folder}/`);
    expect(rooms.toSorted()).toEqual([...atTop, ...there].toSorted());
  });

  test('has the nine steps, in order', () => {
    const steps = anchorsOf(page).filter((anchor) => anchor.startsWith('step-'));
    expect(steps).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9].map((step) => `step-${step}`));
  });
});
