import { METRICS } from '../../src/metrics/names.js';

/** The gate's own metrics as a Markdown table: name, type, labels, meaning. */
export function metricsTable(): string {
  const rows = Object.values(METRICS).map(({ name, type, labels, help }) => {
    const shown = labels.map((label) => `\`${label}\``).join(', ');
    return `| \`${name}\` | ${type} | ${shown} | ${help} |`;
  });
  return ['| name | type | labels | |', '|---|---|---|---|', ...rows, ''].join('\n');
}
