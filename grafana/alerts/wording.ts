/** The words in braces of a rule's texts, for Prometheus and for Grafana. */

import { badReasons, cardNames, oneName } from './queries.js';

/** Every word that a text may have in braces. */
export const WORDS = ['instance', 'uuid', 'probe', 'file', 'outcome', 'number', 'seconds', 'card', 'reasons'] as const;
type Word = (typeof WORDS)[number];

/** All reasons but this one are the business of the rule for unhealthy cards. */
export const NOT_MISSING = 'reason!="missing"';

/** For Prometheus, which can ask in the middle of a text: all reasons are named. */
export function forPrometheus(text: string): string {
  return filled(text, PROMETHEUS);
}

/**
 * For Grafana, which asks beforehand: `A` is the rule's own query, the others are `SIDE_QUERIES`. It names one reason, and
 * how many there are. No dollar sign is in it, since provisioning takes that for a variable of the environment.
 */
export function forGrafana(text: string): string {
  return filled(text, GRAFANA);
}

/** Whether one of the texts has this word. */
export function says(word: Word, ...texts: readonly string[]): boolean {
  return texts.some((text) => text.includes(`{${word}}`));
}

/**
 * What a Grafana rule asks besides, for the words that need it. Where the rule has a result these have one too: older
 * Grafanas call a rule without data when any query of it has none.
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

/** A query of one card, inside a template: on one line, with its quotes escaped. */
function ask(expr: string): string {
  const line = expr.replaceAll(/\s+/g, ' ').replaceAll('"', String.raw`\"`);
  return `query (printf "${line}" .Labels.job .Labels.instance .Labels.uuid)`;
}
