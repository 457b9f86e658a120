import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { INTERVAL, JOB, labelsOf, runbookUrl, type Rule } from '../../grafana/alerts/rule.js';
import { RULES } from '../../grafana/alerts/rules.js';
import { historyOf, INSTANCE, SCRAPE_S, type Chapter } from './gate-history.js';

/** One firing alert: its text, and its labels besides those of the machine and the rule. */
export interface Firing {
  readonly alert: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly summary: string;
  readonly description: string;
}

/** Exactly these alerts must fire at a moment. Alerts in `besides` are compared by name only. */
export interface Check {
  /** Minutes since the start of the story. */
  readonly at: number;
  readonly firing: readonly Firing[];
  readonly besides?: readonly string[];
}

/** The output of `promtool test rules`; exit code 0 where all checks pass. */
export interface Verdict {
  readonly code: number | undefined;
  readonly words: string;
}

/** Runs the rules of the file over the pages of the chapters. */
export async function tryRules(
  rulesFile: string,
  chapters: readonly Chapter[],
  checks: readonly Check[],
): Promise<Verdict> {
  const folder = mkdtempSync(join(tmpdir(), 'promtool-'));
  try {
    const file = join(folder, 'story.yml');
    const test = {
      interval: `${SCRAPE_S}s`,
      input_series: await historyOf(chapters),
      alert_rule_test: checks.flatMap(alertTests),
      promql_expr_test: checks.map(nothingElse),
    };
    // JSON is YAML too.
    writeFileSync(file, JSON.stringify({ rule_files: [rulesFile], evaluation_interval: INTERVAL, tests: [test] }));
    const said = await execa('promtool', ['test', 'rules', file], { reject: false, all: true });
    return { code: said.exitCode, words: said.all };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function alertTests({ at, firing }: Check): object[] {
  return Array.from(new Set(firing.map(({ alert }) => alert)), (alertname) => ({
    eval_time: `${at * 60}s`,
    alertname,
    exp_alerts: firing.filter(({ alert }) => alert === alertname).map(expected),
  }));
}

function expected({ alert, labels, summary, description }: Firing): object {
  const rule = ruleOf(alert);
  return {
    exp_labels: { ...machineOf(alert), ...labelsOf(rule), ...labels },
    exp_annotations: { summary, description, runbook_url: runbookUrl(rule) },
  };
}

/** The one alert without a machine. */
function machineOf(alert: string): object {
  return alert === 'TuneplaneGateNotScraped' ? { job: JOB } : { job: JOB, instance: INSTANCE };
}

function ruleOf(alert: string): Rule {
  const rule = RULES.find(({ name }) => name === alert);
  if (rule === undefined) throw new Error(`there is no rule ${alert}`);
  return rule;
}

function nothingElse({ at, firing, besides = [] }: Check): object {
  const counts = new Map<string, number>();
  for (const name of [...firing.map(({ alert }) => alert), ...besides]) counts.set(name, (counts.get(name) ?? 0) + 1);
  return {
    expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
    eval_time: `${at * 60}s`,
    exp_samples: Array.from(counts, ([alertname, value]) => ({ labels: `{alertname="${alertname}"}`, value })),
  };
}
