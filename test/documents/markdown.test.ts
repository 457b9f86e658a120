import { expect, test } from 'vitest';
import { anchorsOf, linksOf } from './markdown.js';

test.each([
  ['a link', 'see [the page](src/README.md#step-1) there', ['src/README.md#step-1']],
  ['a picture', '![a gate](gate.png)', ['gate.png']],
  ['two on a line', '[a](b.md) and [c](d.md)', ['b.md', 'd.md']],
  ['none in code', '`[a](b)` and\n```\n[c](d)\n```\n', []],
])('links: %s', (_says, text, expected) => expect(linksOf(text)).toEqual(expected));

test.each([
  ['words', '# What a job may do', ['what-a-job-may-do']],
  ['punctuation goes', "## Prometheus' rules or Grafana's, never both", ['prometheus-rules-or-grafanas-never-both']],
  ['code and links count as their words', '### The `wire.ts` of [a gate](b.md)', ['the-wirets-of-a-gate']],
  ['twins are numbered', '# A\n# A\n# A', ['a', 'a-1', 'a-2']],
  ['a comment in a block is no heading', '```sh\n# install it\n```\n', []],
])('anchors: %s', (_says, text, expected) => expect(anchorsOf(text)).toEqual(expected));
