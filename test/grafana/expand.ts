import type { TestPrometheus } from '../support/services/prometheus.js';
import type { Variable } from './dashboard-file.js';

/** The selection: one value, or several for a multi-value variable. */
export type Chosen = Readonly<Record<string, string | readonly string[]>>;

/** Grafana's own variables, for a dashboard of the last minute. */
const BUILT_IN = { __range: '60s', __interval: '2s', __rate_interval: '60s' };

/**
 * Interpolates variables as Grafana does for Prometheus: a multi-value one becomes a pattern, whose characters are escaped
 * twice, once for the pattern and once for the string around it. Anything else stays.
 */
export function expand(expr: string, chosen: Chosen): string {
  return expr.replaceAll(/\$(\w+)|\$\{(\w+)\}/g, (written, short?: string, long?: string) => {
    const name = short ?? long ?? '';
    if (name in BUILT_IN) return BUILT_IN[name as keyof typeof BUILT_IN];
    const value = chosen[name];
    if (value === undefined) return written;
    if (typeof value === 'string') return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"');
    const patterns = value.map((each) => each.replaceAll(/[$^*{}[\]'+?.()|\\]/g, String.raw`\\$&`));
    return patterns.length > 1 ? `(${patterns.join('|')})` : (patterns[0] ?? '');
  });
}

/** The options that Grafana would offer for a variable: the values of a label, or the matches of a pattern in a result. */
export async function offered(
  prometheus: TestPrometheus,
  variable: Variable,
  chosen: Chosen,
): Promise<readonly string[]> {
  const asked = expand(variable.query.query, chosen);
  const values = /^label_values\((?<series>.*), (?<label>\w+)\)$/s.exec(asked)?.groups;
  if (values !== undefined) {
    return (await prometheus.api(`label/${values['label']}/values`, { 'match[]': values['series'] ?? '' })) as string[];
  }
  const expr = /^query_result\((?<expr>.*)\)$/s.exec(asked)?.groups?.['expr'];
  if (expr === undefined) throw new Error(`Grafana does not know how to ask this: ${asked}`);
  const pattern = new RegExp(/^\/(.*)\/$/.exec(variable.regex ?? '')?.[1] ?? '(.*)');
  const lines = (await prometheus.query(expr)).map(({ labels, value }) => {
    const { __name__: name = '', ...rest } = labels;
    const pairs = Object.entries(rest).map(([label, text]) => `${label}="${text}"`);
    return `${name}{${pairs.join(',')}} ${value}`;
  });
  return lines.flatMap((line) => pattern.exec(line)?.[1] ?? []);
}
