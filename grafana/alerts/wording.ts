/** The placeholders in a rule's texts, for Prometheus and for Grafana. */

import { badReasons, cardNames, oneName } from './queries.js';

/** Every placeholder that a text may contain. */
export const WORDS = ['instance', 'uuid', 'probe', 'file', 'outcome', 'number', 'seconds', 'card', 'reasons'] as const;
type Word = (typeof WORDS)[number];

/** The rule for unhealthy cards covers all other reasons. */
export const NOT_MISSING = 'reason!="missing"';

/** For Prometheus, which can query inside a text: lists all reasons. */
export function forPrometheus(text: string): string {
  return filled(text, PROMETHEUS);
}

/**
 * For Grafana, which queries beforehand: `A` is the rule's own query, the others are `SIDE_QUERIES`. It names one reason and
 * the number of reasons. It contains no dollar sign, which provisioning would expand as an environment variable.
 */
export function forGrafana(text: string): string {
  return filled(text, GRAFANA);
}

/** Whether one of the texts has this placeholder. */
export function says(word: Word, ...texts: readonly string[]): boolean {
  return texts.some((text) => text.includes(`{${word}}`));
}

/**
 * The additional queries of a Grafana rule, for the placeholders that need them. Where the rule has a result these must have
 * one too: older Grafanas treat a rule as without data when any of its queries has none.
 */
export const SIDE_QUERIES = {
  card: { refId: 'B', expr: cardNames() },
  reasons: { refId: 'R', expr: `topk by (job, instance, uuid) (1, ${badReasons(NOT_MISSING)})` },
} as const;

function filled(text: string, words: Readonly<Record<Word, string>>): string {
  return text.replaceAll(/\{(\w+)\}/g, (_all, word: string) => {
    if (!isWord(word)) throw new Error(`a rule's text has {${word}}; known are ${WORDS.join(', ')}: ${text}`);
    return words[word];
  });
}

function isWord(word: string): word is Word {
  return WORDS.some((known) => known === word);
}

const LABELS = {
  instance: '{{ .Labels.instance }}',
  uuid: '{{ .Labels.uuid }}',
  probe: '{{ .Labels.probe }}',
  file: '{{ .Labels.file }}',
  outcome: '{{ .Labels.outcome }}',
};

const NAMELESS = 'a card of which nothing more is known';

/** Go's `%[1]q` quotes and escapes as PromQL does. */
const THIS_CARD = ['job=%[1]q', 'instance=%[2]q', 'uuid=%[3]q'];

const PROMETHEUS: Readonly<Record<Word, string>> = {
  ...LABELS,
  number: '{{ printf "%.0f" .Value }}',
  seconds: '{{ printf "%.1f" .Value }} s',
  card: `{{ with ${ask(oneName(...THIS_CARD))} }}{{ with first . }}${named('.Labels')}{{ end }}{{ else }}${NAMELESS}{{ end }}`,
  reasons: `{{ range $nth, $bad := ${ask(badReasons(NOT_MISSING, ...THIS_CARD))} | sortByLabel "reason" }}{{ if $nth }}, {{ end }}{{ $bad.Labels.reason }}{{ end }}`,
};

const GRAFANA: Readonly<Record<Word, string>> = {
  ...LABELS,
  number: '{{ printf "%.0f" .Values.A.Value }}',
  seconds: '{{ printf "%.1f" .Values.A.Value }} s',
  card: named('.Values.B.Labels'),
  reasons:
    '{{ .Values.R.Labels.reason }}{{ if gt .Values.A.Value 1.0 }} (one of {{ printf "%.0f" .Values.A.Value }} reasons){{ end }}',
};

function named(labels: string): string {
  const known = `{{ ${labels}.name }} at {{ ${labels}.pci_bus_id }}{{ if ${labels}.index }} (card {{ ${labels}.index }}){{ end }}`;
  return `{{ if ${labels}.name }}${known}{{ else }}${NAMELESS}{{ end }}`;
}

/** A query for one card inside a template: on one line, with its quotes escaped. */
function ask(expr: string): string {
  const line = expr.replaceAll(/\s+/g, ' ').replaceAll('"', String.raw`\"`);
  return `query (printf "${line}" .Labels.job .Labels.instance .Labels.uuid)`;
}
