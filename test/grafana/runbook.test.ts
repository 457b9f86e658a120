import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { RECORDINGS } from '../../grafana/alerts/recording-rules.js';
import { runbookUrl } from '../../grafana/alerts/rule.js';
import { RULES } from '../../grafana/alerts/rules.js';
import { METRICS } from '../../src/metrics/names.js';
import { HEALTH_REASONS } from '../../src/model/card.js';

const readme = readFileSync(new URL('../../grafana/README.md', import.meta.url), 'utf8');
const settings = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

/** Text by anchor, as GitHub makes it: lower-case, spaces to dashes, signs left out. */
const sections = new Map(
  readme
    .split(/^#+ /m)
    .slice(1)
    .map((section) => [anchorOf(section.split('\n')[0] ?? ''), section]),
);

function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-');
}

describe('grafana/README.md', () => {
  test.each(RULES)('says at the address that $name gives what it means and what to do', (rule) => {
    const url = new URL(runbookUrl(rule));
    expect(url.pathname).toMatch(/\/grafana\/README\.md$/);
    const [means = '', act = ''] = sections.get(url.hash.slice(1))?.split('**What to do.**') ?? [];
    expect(means.length).toBeGreaterThan(60);
    expect(act.length).toBeGreaterThan(60);
  });

  test('speaks of no alert that there is not', () => {
    const named = new Set([...readme.matchAll(/Tuneplane[A-Z]\w+/g)].map(([name]) => name));
    expect(named).toEqual(new Set(RULES.map(({ name }) => name)));
  });

  test('explains every reason for which a card is unhealthy', () => {
    const section = sections.get('tuneplanecardunhealthy');
    for (const reason of HEALTH_REASONS.filter((each) => each !== 'missing'))
      expect(section).toContain(`\`${reason}\``);
  });

  test('names only settings and metrics that there are', () => {
    const known = [...settings.matchAll(/TUNEPLANE_\w+/g)].map(([name]) => name);
    for (const [name] of readme.matchAll(/TUNEPLANE_\w+/g)) expect(known).toContain(name);
    const metrics = Object.values(METRICS).map(({ name }) => name);
    const recorded = new Set(RECORDINGS.map(({ record }) => record.split(':')[1]));
    for (const [name] of readme.matchAll(/tuneplane_gpu_\w+/g))
      if (!recorded.has(name)) expect(metrics).toContain(name);
  });

  test('says plainly what was not tried', () => {
    expect(readme).toContain('never loaded into one');
  });
});
