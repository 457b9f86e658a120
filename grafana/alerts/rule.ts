/** The definition of an alert rule, independent of Prometheus' and Grafana's formats. */

/** `critical`: a person must act now. `warning`: today. `info`: good to know. */
export type Severity = 'critical' | 'warning' | 'info';

/** One rule. Every series of `expr` is one alert, so its labels must stay the same while it lasts. */
export interface Rule {
  /** The alert's name, and the heading of its section in `grafana/README.md`. */
  readonly name: string;
  readonly severity: Severity;
  /** PromQL; gives nothing while all is well. */
  readonly expr: string;
  /** How long `expr` must hold, as a Prometheus duration; `0s`: at once. */
  readonly for: string;
  /** One line. Words in braces are placeholders, see `wording.ts`. */
  readonly summary: string;
  /** What it means and where to look first, for the person on call. */
  readonly description: string;
}

/** The evaluation interval. Grafana requires a multiple of 10 s. */
export const INTERVAL = '30s';

/** The name of the scrape job, as in `grafana/prometheus/scrape.yml`. */
export const JOB = 'tuneplane-gpu-gate';

/** The labels of every alert; `service` distinguishes these alerts from others in an Alertmanager. */
export function labelsOf(rule: Rule): Readonly<Record<string, string>> {
  return { service: 'tuneplane-gpu-gate', severity: rule.severity };
}

/** The URL of a rule's section: GitHub makes a heading's anchor by lower-casing it. */
export function runbookUrl(rule: Rule): string {
  return `${RUNBOOK}#${rule.name.toLowerCase()}`;
}

/** The only place with the URL of this repository. */
const RUNBOOK = 'https://github.com/tuneplane/tuneplane-gpu-gate/blob/main/grafana/README.md';
