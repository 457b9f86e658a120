import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { alertFiles } from '../../grafana/alerts/files.js';
import { RECORDINGS } from '../../grafana/alerts/recording-rules.js';
import { JOB } from '../../grafana/alerts/rule.js';
import { RULES } from '../../grafana/alerts/rules.js';
import { forGrafana, forPrometheus, SIDE_QUERIES } from '../../grafana/alerts/wording.js';
import { METRICS } from '../../src/metrics/names.js';
import { historyOf } from './gate-history.js';
import { groupedBy, namesIn } from './promql-names.js';

const at = (path: string): string => fileURLToPath(new URL(`../../grafana/${path}`, import.meta.url));
const read = (path: string): string => readFileSync(at(path), 'utf8');

describe('the alert rules', () => {
  test.each(Object.entries(alertFiles()))('are in grafana/%s as the code makes them', (path, text) => {
    expect(read(path)).toBe(text);
  });

  test('pass promtool check rules, every one of them', async () => {
    const said = await execa('promtool', ['check', 'rules', at('prometheus/rules.yml')]);
    expect(said.stdout).toContain(`SUCCESS: ${RULES.length} rules found`);
  });

  test('and the recording rules pass it too', async () => {
    const said = await execa('promtool', ['check', 'rules', at('prometheus/recording.yml')]);
    expect(said.stdout).toContain(`SUCCESS: ${RECORDINGS.length} rules found`);
  });

  test.each(RULES)('$name has labels that stay: machine, card, probe, file or outcome', ({ expr }) => {
    const outer = expr.replace(/^count by|^absent/, '');
    const labels = groupedBy(expr).filter((label) => label !== 'reason');
    for (const label of labels) expect(['job', 'instance', 'uuid', 'probe', 'file', 'outcome']).toContain(label);
    expect(outer).not.toMatch(/\bwithout\b|group_left/);
  });

  test.each(RULES)('$name has its values in its text and not in its labels', ({ summary, description }) => {
    expect(summary.length).toBeLessThan(80);
    expect(description.length).toBeGreaterThan(summary.length);
    for (const write of [forPrometheus, forGrafana]) {
      expect([summary, description].map(write).join(' ')).not.toMatch(/(?<!\{)\{\w+\}(?!\})/);
    }
  });

  test('do not take a word that nobody can fill in', () => {
    expect(() => forPrometheus('Fans of {crad} stand still')).toThrow('has {crad}; known are instance, uuid');
  });
});

describe('what the rules ask for', () => {
  let page: readonly string[] = [];
  beforeAll(async () => {
    const chapters = [{ minutes: 0.25, status: { redisUp: true } }];
    page = (await historyOf(chapters)).map(({ series }) => series);
  });

  const asked = [
    ...RULES,
    ...RECORDINGS.map(({ record, expr }) => ({ name: record, expr })),
    ...Object.values(SIDE_QUERIES).map(({ refId, expr }) => ({ name: `side query ${refId}`, expr })),
  ];

  test.each(asked)('$name selects something on the page of the gate, by every name, label and value', ({ expr }) => {
    const selectors = [...expr.matchAll(/\b((?:tuneplane_gpu_|up\b)\w*)(?:\{([^}]*)\})?/g)];
    expect(selectors.length).toBeGreaterThan(0);
    for (const [selector, name = '', matchers = ''] of selectors) {
      const fitting = page.filter((series) => series.split('{')[0] === name && fits(series, matchers));
      expect(fitting, selector).not.toHaveLength(0);
    }
  });

  test.each(asked)('$name groups by labels that its metrics have', ({ expr }) => {
    const names = new Set(namesIn(expr).map(({ metric }) => metric.replace(/_(bucket|count|sum)$/, '')));
    const known = Object.values(METRICS).filter(({ name }) => names.has(name));
    const labels = ['job', 'instance', ...known.flatMap(({ labels: own }): readonly string[] => own)];
    for (const label of groupedBy(expr)) expect(labels).toContain(label);
  });

  test('a name, a label and a value that are not there are seen', () => {
    expect(fits('tuneplane_gpu_cards{state="free"}', 'state="fre"')).toBe(false);
    expect(fits('tuneplane_gpu_cards{state="free"}', 'colour="red"')).toBe(false);
    expect(fits('tuneplane_gpu_cards{state="free"}', 'state=~"free|held", state!="held"')).toBe(true);
  });
});

/** Whether a series has what the matchers ask for; a label that it lacks is empty, as in Prometheus. */
function fits(series: string, matchers: string): boolean {
  const labels = new Map([...series.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = '', value = '']) => [label, value]));
  return [...matchers.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)].every(([, label = '', how = '', wanted = '']) => {
    const value = labels.get(label) ?? '';
    const same = how.includes('~') ? new RegExp(`^(?:${wanted})$`).test(value) : value === wanted;
    return same === !how.startsWith('!');
  });
}

describe('the scrape configuration', () => {
  test('is read by Prometheus, and its job is the one whose gates the rules look for', async () => {
    const said = await execa('promtool', ['check', 'config', at('prometheus/scrape.yml')]);
    expect(said.stdout).toContain('SUCCESS');
    expect(parse(read('prometheus/scrape.yml'))).toMatchObject({ scrape_configs: [{ job_name: JOB }] });
    for (const [, job] of RULES.flatMap(({ expr }) => [...expr.matchAll(/job="([^"]*)"/g)])) expect(job).toBe(JOB);
  });
});

describe('the Alertmanager part', () => {
  test('is read by amtool, and speaks of alerts that there are', async () => {
    const text = read('alertmanager/alertmanager.yml');
    // Debian's is older than 0.26, which knows `url_file`.
    const input = text.replace(/url_file: .*/, 'url: http://127.0.0.1/');
    expect(await saidOf(['amtool', 'check-config'], input)).toContain('SUCCESS');
    const named = [...text.matchAll(/Tuneplane\w+/g)].map(([name]) => name);
    for (const name of named) expect(RULES.map((rule) => rule.name)).toContain(name);
  });
});

describe('the examples of grafana/README.md', () => {
  test('are read by Prometheus', async () => {
    const examples = [...read('README.md').matchAll(/```promql\n([^`]*)```/g)].map(([, expr = '']) => expr);
    expect(examples).toHaveLength(4);
    const rules = examples.map((expr, nth) => ({ record: `example_${nth}`, expr }));
    const input = stringify({ groups: [{ name: 'examples', rules }] });
    expect(await saidOf(['promtool', 'check', 'rules'], input)).toContain('SUCCESS: 4 rules found');
  });
});

/** What a program says of a file with this text. */
async function saidOf([program, ...flags]: readonly [string, ...string[]], text: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'checked-'));
  try {
    writeFileSync(join(folder, 'file.yml'), text);
    return (await execa(program, [...flags, join(folder, 'file.yml')], { reject: false, all: true })).all;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
