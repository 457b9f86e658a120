import { existsSync, statSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { documents, files, read, ROOT } from './documents.js';
import { anchorsOf, linksOf } from './markdown.js';

/** Where a link of a document leads that is no address of another place; null where it leads somewhere. */
function astray(from: string, link: string): string | null {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? from : posix.normalize(posix.join(posix.dirname(from), path));
  const place = new URL(target, ROOT);
  if (target.startsWith('..') || !existsSync(place)) return `${from} links to ${link}: there is no ${target}`;
  if (anchor === undefined) return null;
  if (statSync(place).isDirectory() || !target.endsWith('.md'))
    return `${from} links to ${link}: ${target} has no anchors`;
  return anchorsOf(read(target)).includes(anchor) ? null : `${from} links to ${link}: ${target} has no #${anchor}`;
}

describe('every link leads somewhere', () => {
  test.each(documents())('in %s', (path) => {
    const links = linksOf(read(path)).filter((link) => !/^https?:/.test(link));
    expect(links.map((link) => astray(path, link)).filter((each) => each !== null)).toEqual([]);
  });

  test('and the README links to all of the other documents, or to one that does', () => {
    const reached = new Set(['README.md']);
    for (const path of reached) {
      for (const link of linksOf(read(path)).filter((each) => !/^https?:/.test(each))) {
        const target = posix.normalize(posix.join(posix.dirname(path), link.split('#')[0] ?? ''));
        if (target.endsWith('.md')) reached.add(target);
      }
    }
    expect(documents().filter((path) => !reached.has(path))).toEqual([]);
  });
});

describe('every file that a document names is there', () => {
  const BELOW = /^(?:src|test|grafana|\.ci)\//;
  /** `` `probe/look.ts` `` beside the document or below its folder, `` `src/…` `` from the root; folders end with a slash. */
  test.each(documents())('in %s', (path) => {
    const named = [...read(path).matchAll(/`([\w.-]+(?:\/[\w.-]+)*\/?)`/g)]
      .map(([, name = '']) => name)
      .filter((name) => BELOW.test(name) || /\.(?:ts|mjs)$/.test(name) || /^[\w.-]+(?:\/[\w.-]+)*\/$/.test(name));
    const places = (name: string) => [posix.join(posix.dirname(path), name), ...(BELOW.test(name) ? [name] : [])];
    expect(named.filter((name) => !places(name).some((place) => existsSync(new URL(place, ROOT))))).toEqual([]);
  });
});

test('every place of a document that the code cites is there', () => {
  const cited = files()
    .filter((path) => /\.(?:ts|mjs)$/.test(path))
    .flatMap((path) =>
      [...read(path).matchAll(/(?<![\w/])((?:src|test|grafana)(?:\/[\w-]+)*\/README\.md)#([\w-]+)/g)].map(
        ([, document = '', anchor = '']) => ({ path, document, anchor }),
      ),
    );
  expect(cited.length).toBeGreaterThan(0);
  expect(cited.filter(({ document, anchor }) => !anchorsOf(read(document)).includes(anchor))).toEqual([]);
});
