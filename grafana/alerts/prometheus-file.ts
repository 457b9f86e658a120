/** The rules as a rules file of Prometheus. */

import { stringify } from 'yaml';
import { RECORDINGS } from './recording-rules.js';
import { INTERVAL, labelsOf, runbookUrl, type Rule } from './rule.js';
import { GROUPS } from './rules.js';
import { forPrometheus } from './wording.js';

/** The whole file, as `promtool check rules` reads it. */
export function prometheusFile(): string {
  const groups = Object.entries(GROUPS).map(([name, rules]) => ({
    name,
    interval: INTERVAL,
    rules: rules.map(written),
  }));
  return HEAD + stringify({ groups }, { lineWidth: 0 });
}

/** A file of its own: it is of use too where the alerts come from Grafana. */
export function recordingFile(): string {
  const groups = [{ name: 'tuneplane-gpu-use', interval: INTERVAL, rules: RECORDINGS }];
  return `# Made by \`npm run readme\` from grafana/alerts.\n${stringify({ groups }, { lineWidth: 0 })}`;
}

const HEAD = '# Made by `npm run readme` from grafana/alerts. Load this or the rules for Grafana, never both.\n';

function written(rule: Rule) {
  return {
    alert: rule.name,
    expr: rule.expr,
    for: rule.for,
    labels: labelsOf(rule),
    annotations: {
      summary: forPrometheus(rule.summary),
      description: forPrometheus(rule.description),
      runbook_url: runbookUrl(rule),
    },
  };
}
