import { expect, test } from 'vitest';
import { by, parseMetrics, seriesName } from './metrics-page.js';

const CARDS = '# HELP cards Cards by state.\n# TYPE cards gauge\n';

test('a page is read into its series, with the labels in order of their names', () => {
  const page = parseMetrics(`${CARDS}cards{state="free",at="x"} 5\ncards{state="a \\"b\\" \\\\ \\n"} 1e3\n`);
  expect([...page]).toEqual([
    ['cards{at="x",state="free"}', 5],
    ['cards{state="a \\"b\\" \\\\ \\n"}', 1000],
  ]);
  expect(page.get(seriesName('cards', { state: 'free', at: 'x' }))).toBe(5);
  expect(by(page, 'cards', 'state')).toEqual({ free: 5, 'a "b" \\ \n': 1000 });
});

test('the parts of a histogram belong to it', () => {
  const page = parseMetrics(
    '# TYPE wait histogram\nwait_bucket{le="1"} 2\nwait_bucket{le="+Inf"} 3\nwait_sum 4\nwait_count 3\n',
  );
  expect(page.get('wait_bucket{le="+Inf"}')).toBe(3);
});

test.each([
  ['a page that was cut', `${CARDS}cards 5`, /was cut/],
  ['a series twice', `${CARDS}cards{a="1",b="2"} 5\ncards{b="2",a="1"} 6\n`, /twice: cards{a="1",b="2"}/],
  ['a series of no family', `${CARDS}crds 5\n`, /no TYPE.*crds/],
  ['a value that is none', `${CARDS}cards NaN\n`, /finite value: cards NaN/],
  ['a line that is none', `${CARDS}cards{state=free} 5\n`, /no series/],
])('%s is refused', (_says, text, words) => expect(() => parseMetrics(text)).toThrow(words));
