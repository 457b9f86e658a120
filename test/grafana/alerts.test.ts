import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { RULES } from '../../grafana/alerts/rules.js';
import { ADMISSION_STORIES } from './admission-stories.js';
import { CARD_STORIES } from './card-stories.js';
import type { Chapter } from './gate-history.js';
import { MACHINE_STORIES } from './machine-stories.js';
import { tryRules } from './promtool.js';
import { RESTART } from './story.js';

/** The rules as they are shipped, run by the real promtool over pages that the gate's own code made. */
const RULES_FILE = fileURLToPath(new URL('../../grafana/prometheus/rules.yml', import.meta.url));
const STORIES = [...MACHINE_STORIES, ...CARD_STORIES, ...ADMISSION_STORIES];

describe('the alert rules', () => {
  test('have each a story in which they fire', () => {
    const told = STORIES.filter(({ of, checks }) =>
      checks.some(({ firing }) => firing.some(({ alert }) => alert === of)),
    );
    expect(new Set(told.map(({ of }) => of))).toEqual(new Set(RULES.map(({ name }) => name)));
  });

  test.each(STORIES)('$of $says', async ({ chapters, checks }) => {
    const { code, words } = await tryRules(RULES_FILE, chapters, checks);
    expect(code, words).toBe(0);
  });

  test.each<[says: string, chapters: readonly Chapter[]]>([
    ['on a healthy machine on which nothing is external', [{ minutes: 90 }]],
    [
      'over restarts of the gate',
      [{ minutes: 10 }, RESTART, { minutes: 10, restarted: true }, RESTART, { minutes: 20, restarted: true }],
    ],
    [
      'over a gap of 45 s in which nobody scrapes',
      [{ minutes: 10 }, { minutes: 0.75, gate: 'unscraped' }, { minutes: 20 }],
    ],
    [
      'from the first scrape on, with a gate that begins blind and sees a minute later',
      [{ minutes: 1, lookless: true }, { minutes: 20 }],
    ],
  ])('are all silent %s', async (_says, chapters) => {
    const end = chapters.reduce((sum, { minutes }) => sum + minutes, 0) - 1;
    const checks = Array.from({ length: end }, (_, at) => ({ at, firing: [] }));
    const { code, words } = await tryRules(RULES_FILE, chapters, checks);
    expect(code, words).toBe(0);
  });
});

describe('promtool', () => {
  test('finds an alert that should have been silent, one that should have fired, and a text that is another', async () => {
    const down: Chapter[] = [{ minutes: 5 }, { minutes: 5, gate: 'down' }];
    const text = { alert: 'TuneplaneGateDown', summary: 'another', description: 'text' };
    const silent = await tryRules(RULES_FILE, down, [{ at: 9, firing: [] }]);
    const early = await tryRules(RULES_FILE, down, [{ at: 6, firing: [], besides: [text.alert] }]);
    const other = await tryRules(RULES_FILE, down, [{ at: 9, firing: [text] }]);
    expect([silent, early, other].map(({ code }) => code)).toEqual([1, 1, 1]);
    expect(other.words).toContain('The gate on gpu-01:9841 is down');
  });
});
