import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { JOB } from '../../grafana/alerts/rule.js';
import { RULES } from '../../grafana/alerts/rules.js';
import { METRICS } from '../../src/metrics/names.js';
import { HEALTH_REASONS } from '../../src/model/card.js';
import { ADMISSION_STORIES } from '../grafana/admission-stories.js';
import { CARD_STORIES } from '../grafana/card-stories.js';
import { HEALTHY, held, historyOf, type Chapter } from '../grafana/gate-history.js';
import { MACHINE_STORIES } from '../grafana/machine-stories.js';
import { groupedBy, namesIn } from '../grafana/promql-names.js';
import { tryRules, type Check, type Firing } from '../grafana/promtool.js';
import { card, claim } from '../metrics/occupancies.js';

/** Alerts that fired for ever, never, or thirty times for one outage. The rules are those shipped, run by the real promtool. */

/** As much of a rules file as is looked at here. */
interface RulesFile {
  readonly groups: readonly { readonly rules: readonly { readonly labels: Readonly<Record<string, string>> }[] }[];
}

const at = (path: string): string => fileURLToPath(new URL(`../../grafana/${path}`, import.meta.url));

/** What promtool says is wrong with these checks; nothing where all of them hold. */
async function wrong(chapters: readonly Chapter[], checks: readonly Check[]): Promise<string> {
  const { code, words } = await tryRules(at('prometheus/rules.yml'), chapters, checks);
  return code === 0 ? '' : words;
}

// AL1, https://github.com/ionfury/homelab/pull/483
describe('absent() on a job that never existed fired for ever; rules on another exporter’s names never fired and never erred', () => {
  test('every metric that a rule asks for is one of the gate, or up', () => {
    const ours = new Set<string>(['up', ...Object.values(METRICS).map(({ name }) => name)]);
    for (const { name, expr } of RULES) {
      const asked = namesIn(expr).map(({ metric }) => metric.replace(/_(bucket|count|sum)$/, ''));
      expect(asked.length, name).toBeGreaterThan(0);
      for (const metric of asked) expect(ours, `${name} asks for ${metric}`).toContain(metric);
    }
  });

  test('the job in a rule is the one that is scraped', () => {
    const jobs = RULES.flatMap(({ expr }) => [...expr.matchAll(/job=~?"([^"]*)"/g)].map(([, job]) => job));
    expect(jobs).toContain(JOB);
    expect(new Set(jobs)).toEqual(new Set([JOB]));
    expect(readFileSync(at('prometheus/scrape.yml'), 'utf8')).toContain(`job_name: ${JOB}`);
  });

  test('each rule fires in a story of its own, and on a healthy box none does', async () => {
    const told = [...MACHINE_STORIES, ...CARD_STORIES, ...ADMISSION_STORIES].filter(({ of, checks }) =>
      checks.some(({ firing }) => firing.some(({ alert }) => alert === of)),
    );
    expect(new Set(told.map(({ of }) => of))).toEqual(new Set(RULES.map(({ name }) => name)));
    expect(
      await wrong(
        [{ minutes: 45 }],
        [5, 20, 44].map((minute) => ({ at: minute, firing: [] })),
      ),
    ).toBe('');
  });
});

// AL4, https://github.com/giantswarm/prometheus-rules/issues/2154
describe('rules that keep every label changed identity with a pod or a value: one outage of ten days was thirty alerts', () => {
  const health = Object.fromEntries(HEALTH_REASONS.map((reason) => [reason, reason === 'ecc_uncorrected']));
  const name = 'NVIDIA H100 80GB HBM3 at 00000000:1B:00.0 (card 1)';
  const ill: Firing = {
    alert: 'TuneplaneCardUnhealthy',
    labels: { uuid: 'GPU-00000001' },
    summary: `${name} on gpu-01:9841 is unhealthy: ecc_uncorrected`,
    description: `${name} (GPU-00000001) on gpu-01:9841 is unhealthy: ecc_uncorrected. It is not handed out; a job that holds it keeps running and may compute nonsense. This stays until the card was seen well again, also while nobody can see it.`,
  };

  test('a card that is ill for two hours is one alert, whoever holds it and whatever it reads meanwhile', async () => {
    const minutes = 24;
    const chapters: Chapter[] = [
      { minutes: 5 },
      { minutes, cards: [card(0), held(1, { health, claims: [claim('alice')], memoryUsedBytes: 80e9 })] },
      { minutes, cards: [card(0), held(1, { health, claims: [claim('alice')], memoryUsedBytes: 84e9 })] },
      { minutes, cards: [card(0), card(1, { state: 'unhealthy', health })] },
      { minutes: 0.75, gate: 'down' },
      { minutes, restarted: true, cards: [card(0), card(1, { state: 'unhealthy', health, memoryUsedBytes: 0 })] },
      { minutes, cards: [card(0), held(1, { health, claims: [claim('bob')] })] },
    ];
    // One and the same, at every minute: an alert that changed its identity would be pending anew.
    expect(
      await wrong(
        chapters,
        Array.from({ length: 115 }, (_, minute) => ({ at: minute + 8, firing: [ill] })),
      ),
    ).toBe('');
  });

  test('no rule keeps a label that changes, and values stand in the text', () => {
    for (const { name: rule, expr } of RULES) {
      const kept = groupedBy(expr).filter((label) => label !== 'reason');
      for (const label of kept) expect(['job', 'instance', 'uuid', 'probe', 'outcome', 'file'], rule).toContain(label);
    }
    const shipped = parse(readFileSync(at('prometheus/rules.yml'), 'utf8')) as RulesFile;
    const labels = shipped.groups.flatMap(({ rules }) => rules.map((each) => Object.entries(each.labels)));
    expect(labels).toHaveLength(RULES.length);
    for (const [label, value] of labels.flat()) {
      expect(['service', 'severity']).toContain(label);
      expect(value).not.toContain('{{');
    }
  });
});

// AL5, https://github.com/grafana/grafana/issues/16290
describe('No Data fired at each restart of Grafana or the target; set to OK it hid a dead exporter', () => {
  test('a target that is away for 40 s sends nothing', async () => {
    expect(
      await wrong(
        [{ minutes: 10 }, { minutes: 0.75, gate: 'down' }, { minutes: 10, restarted: true }],
        Array.from({ length: 19 }, (_, minute) => ({ at: minute + 1, firing: [] })),
      ),
    ).toBe('');
  });

  test('a target that is away for half an hour is exactly one alert', async () => {
    const away = [{ at: 39, firing: [], besides: ['TuneplaneGateDown'] }];
    expect(await wrong([{ minutes: 10 }, { minutes: 30, gate: 'down' }], away)).toBe('');
  });

  test('where no card is external, 0 stands there and not nothing', async () => {
    const page = await historyOf([{ minutes: 0.25, cards: HEALTHY }]);
    const external = page.find(({ series }) => /^tuneplane_gpu_cards\{.*state="external"/.test(series));
    expect(external?.values).toBe('0+0x0');
    const firing = [{ at: 29, firing: [] }];
    expect(await wrong([{ minutes: 30 }], firing)).toBe('');
  });

  test('in Grafana a rule without data is not an alert, but the one for a gate that is gone is', () => {
    const file = readFileSync(at('provisioning/alerting/rules.yaml'), 'utf8');
    expect(file).toContain('noDataState: OK');
    expect(file).not.toMatch(/noDataState: Alerting/);
    const gone = RULES.filter(({ expr }) => /\bup\{/.test(expr)).map(({ name: rule }) => rule);
    expect(gone).toEqual(expect.arrayContaining(['TuneplaneGateDown', 'TuneplaneGateNotScraped']));
  });
});
