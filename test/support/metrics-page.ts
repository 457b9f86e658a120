/** Parses a metrics page: each series as `name{a="x",b="y"}` with sorted label names, or `name` alone, and its value. */
export type MetricsPage = ReadonlyMap<string, number>;

/**
 * Parses a page in Prometheus' text format 0.0.4. Throws where Prometheus would drop the page (an invalid line, a duplicate
 * series) or where our pages must be stricter: a series without HELP and TYPE before it, a value that is not finite.
 */
export function parseMetrics(text: string): MetricsPage {
  if (text !== '' && !text.endsWith('\n'))
    throw new Error('the metrics page does not end with a line break: it was cut');
  const page = new Map<string, number>();
  const families = new Set<string>();
  for (const line of text.split('\n')) {
    const family = /^# TYPE (\S+) (?:counter|gauge|histogram|summary|untyped)$/.exec(line)?.[1];
    if (family !== undefined) families.add(family);
    if (line === '' || line.startsWith('#')) continue;
    const { series, name, value } = parseLine(line);
    if (!families.has(name) && !families.has(name.replace(/_(bucket|sum|count)$/, ''))) {
      throw new Error(`no TYPE stands before this line of the metrics page: ${line}`);
    }
    if (page.has(series)) throw new Error(`the metrics page has this series twice: ${series}`);
    page.set(series, value);
  }
  return page;
}

/** The key of one series: labels in any order. */
export function seriesName(name: string, labels: Readonly<Record<string, string>> = {}): string {
  const pairs = Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (pairs.length === 0) return name;
  return `${name}{${pairs.map(([label, value]) => `${label}="${escaped(value)}"`).join(',')}}`;
}

/** The values of all series of one name, by the value of one label: `by(page, 'tuneplane_gpu_cards', 'state')`. */
export function by(page: MetricsPage, name: string, label: string): Readonly<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const [series, value] of page) {
    if (!series.startsWith(`${name}{`)) continue;
    const of = labelsOf(series.slice(name.length + 1, -1))[label];
    if (of !== undefined) found[of] = value;
  }
  return found;
}

const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"/;
const LINE = new RegExp(`^([a-zA-Z_:][\\w:]*)(?:\\{((?:${LABEL.source},?)*)\\})? (\\S+)$`);

function parseLine(line: string): { readonly series: string; readonly name: string; readonly value: number } {
  const match = LINE.exec(line);
  const [name, labels, value] = [match?.[1] ?? '', match?.[2] ?? '', Number(match?.at(-1) ?? Number.NaN)];
  if (!Number.isFinite(value))
    throw new Error(`this line of the metrics page is no series with a finite value: ${line}`);
  return { series: seriesName(name, labelsOf(labels)), name, value };
}

function labelsOf(inside: string): Readonly<Record<string, string>> {
  const found = [...inside.matchAll(new RegExp(LABEL, 'g'))];
  return Object.fromEntries(found.map(([, label = '', value = '']) => [label, unescaped(value)]));
}

const escaped = (value: string) => value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
const unescaped = (value: string) =>
  value.replaceAll(/\\(["\\n])/g, (_all, sign: string) => (sign === 'n' ? '\n' : sign));
