import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { RECORDINGS } from '../../grafana/alerts/recording-rules.js';
import { INTERVAL, JOB } from '../../grafana/alerts/rule.js';
import { METRICS } from '../../src/metrics/names.js';
import { claim } from '../metrics/occupancies.js';
import { held, historyOf, INSTANCE, SCRAPE_S, type Chapter } from './gate-history.js';
import { RESTART } from './story.js';

/** The recording rule as it is shipped, run by the real promtool over pages that the gate's own code made. */
const FILE = fileURLToPath(new URL('../../grafana/prometheus/recording.yml', import.meta.url));
const RECORD = RECORDINGS[0]?.record ?? '';
const HOURS = `sum by (principal) (increase(${METRICS.heldCardSeconds.name}[10m])) / 3600`;

const heldBy = (index: number, principal: string) =>
  held(index, { claims: [{ ...claim(`of-${principal}`), principal }] });
const TWO_USERS: Chapter = { minutes: 20, cards: [heldBy(0, 'ann'), heldBy(1, 'ann'), heldBy(2, 'kim')] };
const BLIND: Chapter = { ...TWO_USERS, minutes: 2, fared: { docker: 'timeout' } };

test.each<[says: string, chapters: readonly Chapter[], minute: number, expr: string, each: Record<string, number>]>([
  ['cards held are recorded by user', [TWO_USERS], 19, RECORD, { ann: 2, kim: 1 }],
  ['card-hours are those of the time asked for', [TWO_USERS], 19, HOURS, { ann: 2 / 6, kim: 1 / 6 }],
  [
    'a time in which the containers could not be listed is made up for by the look after it',
    [TWO_USERS, BLIND, { ...TWO_USERS, minutes: 8 }],
    29,
    HOURS,
    { ann: 2 / 6, kim: 1 / 6 },
  ],
  [
    'a restart of the gate begins at 0, and takes nothing away',
    [TWO_USERS, RESTART, { ...TWO_USERS, restarted: true }],
    39,
    RECORD,
    { ann: 2, kim: 1 },
  ],
])('%s', async (_says, chapters, minute, expr, each) => {
  const { code, words } = await asks(chapters, minute, expr, each);
  expect(code, words).toBe(0);
});

test('promtool sees a number that is another', async () => {
  expect((await asks([TWO_USERS], 19, RECORD, { ann: 1, kim: 1 })).code).toBe(1);
});

async function asks(chapters: readonly Chapter[], minute: number, expr: string, each: Record<string, number>) {
  const folder = mkdtempSync(join(tmpdir(), 'use-'));
  try {
    const own = expr === RECORD ? `__name__="${RECORD}", job="${JOB}", instance="${INSTANCE}", ` : '';
    const samples = Object.entries(each).map(([name, value]) => ({ labels: `{${own}principal="${name}"}`, value }));
    const test = {
      interval: `${SCRAPE_S}s`,
      input_series: await historyOf(chapters),
      promql_expr_test: [{ expr, eval_time: `${minute * 60}s`, exp_samples: samples }],
    };
    const file = join(folder, 'use.yml');
    writeFileSync(file, JSON.stringify({ rule_files: [FILE], evaluation_interval: INTERVAL, tests: [test] }));
    const said = await execa('promtool', ['test', 'rules', file], { reject: false, all: true });
    return { code: said.exitCode, words: said.all };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
