/** What an alert rule is, before it is written for Prometheus or for Grafana. */

/** `critical`: somebody must act now. `warning`: today. `info`: good to know. */
export type Severity = 'critical' | 'warning' | 'info';

/** One rule. Every series that `expr` gives is one alert, so its labels are only what stays the same while it lasts. */
export interface Rule {
  /** The alert's name, and the heading of its section in `grafana/README.md`. */
  readonly name: string;
  readonly severity: Severity;
  /** PromQL; gives nothing while all is well. */
  readonly expr: string;
  /** How long `expr` must hold, in Prometheus' words; `0s`: at once. */
  readonly for: string;
  /** One line. Words in braces are filled in, see `wording.ts`. */
  readonly summary: string;
  /** What it means and where to look first, for whoever is woken by it. */
  readonly description: string;
}

/** How often the rules are asked. Grafana wants a multiple of 10 s. */
export const INTERVAL = '30s';

/** The name of the scrape job, as `grafana/prometheus/scrape.yml` has it. */
export const JOB = 'tuneplane-gpu-gate';

/** The labels of every alert; by `service` an Alertmanager tells these alerts from all others. */
export function labelsOf(rule: Rule): Readonly<Record<string, string>> {
  return { service: 'tuneplane-gpu-gate', severity: rule.severity };
}

/** Where the section of a rule is to be read: GitHub makes a heading's anchor by lowering its letters. */
export function runbookUrl(rule: Rule): string {
  return `${RUNBOOK}#${rule.name.toLowerCase()}`;
}

/** The only place that knows where this repository is published. */
const RUNBOOK = 'https://github.com/tuneplane/tuneplane-gpu-gate/blob/main/grafana/README.md';
