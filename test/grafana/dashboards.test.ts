import { describe, expect, test } from 'vitest';
import { CARD_STATES } from '../../src/model/card.js';
import { STATE_COLOURS } from '../../src/model/colours.js';
import { linksIn, panel, panelsOf, readDashboard, variablesOf } from './dashboard-file.js';

const dashboards = { fleet: readDashboard('fleet'), card: readDashboard('card') };
const all = Object.values(dashboards);
const panels = all.flatMap((dashboard) =>
  panelsOf(dashboard).map((each) => [`${dashboard.title}: ${each.title}`, each] as const),
);

describe('the dashboards', () => {
  test('have uids of their own', () => {
    expect(new Set(all.map(({ uid }) => uid)).size).toBe(2);
  });

  test.each(all.map((dashboard) => [dashboard.title, dashboard] as const))(
    '%s: its panels have ids of their own, titles of their own, and letters for their queries',
    (_title, dashboard) => {
      const ids = dashboard.panels.map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      const titles = panelsOf(dashboard).map(({ title }) => title);
      expect(new Set(titles).size).toBe(titles.length);
      for (const { targets } of panelsOf(dashboard)) {
        expect(targets.map(({ refId }) => refId)).toEqual(['A', 'B', 'C', 'D', 'E', 'F', 'G'].slice(0, targets.length));
      }
    },
  );

  test.each(all.map((dashboard) => [dashboard.title, dashboard] as const))(
    '%s: its panels fill the width and lie beside each other',
    (_title, dashboard) => {
      const taken = new Set<string>();
      for (const { gridPos } of dashboard.panels) {
        expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
        for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
          for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
            expect(taken).not.toContain(`${x} ${y}`);
            taken.add(`${x} ${y}`);
          }
        }
      }
    },
  );

  test('ask for what is chosen above them, and use every choice that they offer', () => {
    for (const dashboard of all) {
      const offered = dashboard.templating.list.map(({ name }) => name);
      const text = JSON.stringify([dashboard.panels, variablesOf(dashboard).map(({ query }) => query)]);
      const used = [...text.matchAll(/\$\{?(\w+)/g)].map(([, name = '']) => name);
      const built = new Set(['__range', '__interval', '__rate_interval', '__url_time_range', '__data', '1']);
      expect([...new Set(used)].filter((name) => !offered.includes(name) && !built.has(name))).toEqual([]);
      expect(offered.filter((name) => !used.includes(name))).toEqual([]);
    }
  });

  test('lead to each other, with variables that are there', () => {
    const links = all.flatMap((dashboard) => linksIn(dashboard));
    const uids = links.map((url) => /^\/d\/([\w-]+)\?/.exec(url)?.[1]);
    expect(new Set(uids)).toEqual(new Set(all.map(({ uid }) => uid)));
    for (const url of links) {
      const to = all.find(({ uid }) => url.startsWith(`/d/${uid}?`));
      const named = [...url.matchAll(/var-(\w+)=/g)].map(([, name = '']) => name);
      const there = to?.templating.list.map(({ name }) => name) ?? [];
      expect(named.filter((name) => !there.includes(name))).toEqual([]);
      expect(url).toContain('${datasource:queryparam}');
    }
  });
});

describe('a number that is not there', () => {
  test.each(panels)('is not taken for a good one: %s', (_title, each) => {
    expect(each.fieldConfig.defaults.noValue).not.toMatch(/^(0|ok|none|fine|healthy|free)$/i);
    // The last value of a range outlives the gate that said it.
    if (each.type === 'stat' || each.type === 'table') expect(each.targets.every(({ instant }) => instant)).toBe(true);
    // `vector(0)` would show a number where there is no gate.
    if (each.type === 'stat') expect(each.targets.map(({ expr }) => expr).join()).not.toContain('vector(0)');
  });
});

describe('the six states', () => {
  test('have one colour everywhere: that of the page on a dark ground', () => {
    const coloured = ['Cards by state', 'Cards by state over time'].map((title) => panel(dashboards.fleet, title));
    for (const { fieldConfig } of [...coloured, panel(dashboards.card, 'State now')]) {
      const colours = fieldConfig.overrides.map(({ matcher, properties }) => [
        matcher.options,
        properties.find(({ id }) => id === 'color')?.value,
      ]);
      expect(Object.fromEntries(colours)).toMatchObject(
        Object.fromEntries(
          CARD_STATES.map((state) => [state, { mode: 'fixed', fixedColor: STATE_COLOURS[state].dark }]),
        ),
      );
    }
    const column = panel(dashboards.fleet, 'Cards').fieldConfig.overrides.find(
      ({ matcher }) => matcher.options === 'state',
    );
    for (const state of CARD_STATES) {
      expect(JSON.stringify(column)).toContain(`"color":"${STATE_COLOURS[state].dark}"`);
      expect(JSON.stringify(panel(dashboards.card, 'State over time'))).toContain(STATE_COLOURS[state].dark);
    }
  });
});
