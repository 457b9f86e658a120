import { METRICS } from '../../src/metrics/names.js';

/** The metrics as a Markdown table: name, type, labels, meaning; one row for each of the gate's own. */
export function metricsTable(): string {
  const rows = Object.values(METRICS).map(({ name, type, labels, help }) => {
    const shown = labels.map((label) => `\`${label}\``).join(', ');
    return `| \`${name}\` | ${type} | ${shown} | ${help} |`;
  });
  return ['| name | type | labels | |', '|---|---|---|---|', ...rows, ''].join('\n');
}
