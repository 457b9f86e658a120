/** The metrics as a table for the README. */

import { METRICS } from './names.js';

/** A Markdown table: name, type, labels, meaning; one row for each metric of the gate. */
export function metricsMarkdown(): string {
  const rows = Object.values(METRICS).map(({ name, type, labels, help }) => {
    const shown = labels.map((label) => `\`${label}\``).join(', ');
    return `| \`${name}\` | ${type} | ${shown} | ${help} |`;
  });
  return ['| name | type | labels | |', '|---|---|---|---|', ...rows, ''].join('\n');
}
