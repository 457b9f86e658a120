/** The series that an expression reads: metrics, with the labels of their selectors. */
export interface Read {
  readonly metric: string;
  readonly labels: readonly string[];
}

const GROUPING = /\b(by|on|without|ignoring|group_left|group_right)\s*\(([^)]*)\)/g;
const SELECTOR = /([a-zA-Z_:][\w:]*)\s*\{([^}]*)\}/g;
const WORDS = new Set(['and', 'or', 'unless', 'bool', 'offset', 'by', 'on', 'without', 'ignoring']);

/** The names in an expression. Prometheus 2.42 cannot list them itself. */
export function namesIn(expr: string): readonly Read[] {
  const selected = [...expr.matchAll(SELECTOR)].map(([, metric = '', inside = '']) => ({
    metric,
    labels: [...inside.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label),
  }));
  const rest = withoutStrings(expr.replaceAll(SELECTOR, ' '))
    .replaceAll(GROUPING, ' ')
    .replaceAll(/\[[^\]]*\]/g, ' ');
  const bare = [...rest.matchAll(/(?<![\w.])([a-zA-Z_:][\w:]*)\b(?!\s*\()/g)].map(([, metric = '']) => metric);
  return [...selected, ...bare.filter((name) => !WORDS.has(name)).map((metric) => ({ metric, labels: [] }))];
}

/** The labels by which an expression groups or joins, without those that its functions create from quoted arguments. */
export function groupedBy(expr: string): readonly string[] {
  const made = new Set([...expr.matchAll(/,\s*"(\w+)"/g)].map(([, label = '']) => label));
  const grouped = [...expr.matchAll(GROUPING)].flatMap(([, , inside = '']) => inside.split(','));
  return [...new Set(grouped.map((label) => label.trim()))].filter((label) => label !== '' && !made.has(label));
}

function withoutStrings(expr: string): string {
  return expr.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""');
}
