import type { Query } from './arguments.js';
import { type Numbered, chosenCards, onBus } from './chosen-cards.js';
import { cell, errorWord } from './fields/cell.js';
import { chosenFields, heading } from './fields/field-table.js';
import type { Seen } from './fields/field.js';
import type { Dialect } from './machine/dialect.js';
import type { CardProcess, Machine } from './machine/machine.js';
import { type Output, sentence } from './output.js';

/** The answer in rows: one per card, or per process on it. */
export function rows(machine: Machine, query: Query, dialect: Dialect, now: Date): Output {
  const fields = chosenFields(query.kind, query.fields, dialect);
  if (typeof fields === 'string') return sentence(`Field "${fields}" is not a valid field to query.\n\n`, 2);
  const cards = chosenCards(machine, dialect, query.ids);
  if ('rc' in cards) return cards;
  const about = { count: onBus(machine).length, driver: machine.driver, dialect, now };
  const row = ({ card, index, place }: Numbered, process: CardProcess | null): Output['rows'][number] => {
    const seen: Seen = { ...about, card, index, process };
    return { card: place, text: line(fields.map((field) => cell(field, seen, query.units))) };
  };
  return {
    header: query.header ? line(fields.map(heading)) : '',
    rows: cards.flatMap((each) => processesIn(machine, query, each).map((process) => row(each, process))),
    end: '',
    rc: 0,
  };
}

/** The subjects of a card's rows. An unreadable process list makes one row without a process. */
function processesIn({ process_list }: Machine, { kind }: Query, { card }: Numbered): readonly (CardProcess | null)[] {
  if (kind !== 'apps' || process_list === 'not_supported') return [null];
  if (errorWord({ about: 'reading' }, { card }) !== null) return [null];
  return process_list === 'invisible' ? [] : card.processes;
}

function line(cells: readonly string[]): string {
  return `${cells.join(', ')}\n`;
}
