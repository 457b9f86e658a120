/** A complete look as text that a person can read and a test can compare. */

import type { JudgedCard } from '../../src/model/occupancy.js';
import { PROBES } from '../../src/model/snapshot.js';
import { seriesOf } from '../metrics/page.js';
import type { Look } from './watched-machine.js';

/**
 * The sentence for people, the probes, one line per card with its state and findings, and every series of the page. Series
 * that differ only in the card share a line: `card_claims 0-7: 0`. A card that is not on the line has no such series.
 */
export function writtenDown({ occupancy, page }: Look): string {
  const cards = occupancy.cards.map((card, nth) => ({ card, label: labelOf(card, nth) }));
  const probes = PROBES.map((probe) => {
    const { state, why } = occupancy.probes[probe];
    return `${probe} ${why ?? state}`;
  });
  return [
    occupancy.explain,
    `external_probe_ok ${occupancy.externalProbeOk} | probes: ${probes.join(', ')}`,
    ...cards.map(({ card, label }) => cardLine(card, label)),
    ...seriesLines(page, cards),
  ].join('\n');
}

function labelOf(card: JudgedCard, nth: number): string {
  return card.index === null ? `?${nth}` : String(card.index);
}

function cardLine(card: JudgedCard, label: string): string {
  const findings = [
    ...card.unhealthy.map(({ reason, detail }) => `${reason}: ${detail}`),
    ...card.warnings.map(({ reason, detail }) => `(${reason}: ${detail})`),
    ...(card.excluded === null ? [] : [`excluded by ${card.excluded.by}: ${card.excluded.reason}`]),
    ...(card.external === null ? [] : [`external: ${JSON.stringify(card.external)}`]),
    ...(card.unknownBecause === null ? [] : [`unknown because: ${card.unknownBecause}`]),
  ];
  const who = `${card.uuid ?? 'no uuid'} at ${card.pciBusId ?? 'no address'}`;
  return [`${label} ${card.state.toUpperCase()}`, who, ...findings].join(' | ');
}

interface Labelled {
  readonly card: JudgedCard;
  readonly label: string;
}

/** For each series name and values: which labels have them. */
function seriesLines(page: string, cards: readonly Labelled[]): string[] {
  const series = new Map<string, Map<string, string[]>>();
  for (const [written, value] of seriesOf(page)) {
    const { name, labels, card } = read(written.replace(/^tuneplane_gpu_/, ''), cards);
    const key = `${name} ${labels}`;
    const values = series.get(key) ?? new Map<string, string[]>();
    values.set(value, [...(values.get(value) ?? []), ...(card === null ? [] : [card])]);
    series.set(key, values);
  }
  const lines = new Map<string, Map<string, string[]>>();
  for (const [key, values] of series) {
    const [name = '', ...labels] = key.split(' ');
    const told = Array.from(values, ([value, whose]) => (whose.length === 0 ? value : `${ranges(whose)}: ${value}`));
    const same = lines.get(name) ?? new Map<string, string[]>();
    same.set(told.join(' '), [...(same.get(told.join(' ')) ?? []), labels.join(' ')]);
    lines.set(name, same);
  }
  return Array.from(lines, ([name, same]) => {
    const told = Array.from(
      same,
      ([values, labels]) =>
        `${labels
          .filter(Boolean)
          .map((each) => `{${each}} `)
          .join('')}${values}`,
    );
    return `${name} ${told.join('; ')}`;
  });
}

/** A card's series shows the card's number; its line has its other identifiers. */
function read(
  series: string,
  cards: readonly Labelled[],
): { readonly name: string; readonly labels: string; readonly card: string | null } {
  const [, name = '', inside = ''] = /^(\w+)(?:\{(.*)\})?$/.exec(series) ?? [];
  const [both, uuid, index] = /uuid="([^"]*)",index="([^"]*)",?/.exec(inside) ?? [];
  // A single label is written without its name: `state` of `card_state` and the like.
  const short = (labels: string): string => /^\w+="([^"]*)"$/.exec(labels)?.[1] ?? labels;
  if (both === undefined) return { name, labels: short(inside), card: null };
  const whose = cards.find(
    ({ card }) => (card.uuid ?? '') === uuid && (card.index === null ? '' : String(card.index)) === index,
  );
  if (whose === undefined) throw new Error(`this series is of no card: ${series}`);
  const address = `pci_bus_id="${whose.card.pciBusId ?? ''}",`;
  return { name, labels: short(inside.replace(both, '').replace(address, '')), card: whose.label };
}

/** `0,1,2,4` is `0-2,4`. */
function ranges(labels: readonly string[]): string {
  const parts: string[][] = [];
  for (const label of labels) {
    const last = parts.at(-1);
    if (last !== undefined && Number(label) === Number(last.at(-1)) + 1) last.push(label);
    else parts.push([label]);
  }
  return parts.map((part) => (part.length > 2 ? `${part[0]}-${part.at(-1)}` : part.join(','))).join(',');
}
