import type { Column, ColumnFinding, FieldName, Meaning } from '../../src/model/column.js';
import { COLUMNS, READINGS } from '../../src/model/columns.js';

/**
 * The findings of the driver as a Markdown table for the runbook: reason, meaning, column and branches, words, effect,
 * remedy; one row per column with a finding.
 */
export function findingsTable(): string {
  const rows = READINGS.flatMap((reading) => {
    const column: Column = COLUMNS[reading];
    return column.finding === undefined ? [] : [findingRow(column, column.finding)];
  });
  const head = [
    'reason',
    'what it is',
    'column, and the driver branches that have it',
    'words',
    'what it does',
    'what helps',
  ];
  return [head, head.map(() => '---'), ...rows, driverErrorRow()].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

const DOES: Record<ColumnFinding['severity'], string> = {
  unhealthy: 'takes the card out',
  warning: 'is shown; the card stays in use',
};

function findingRow(column: Column, finding: ColumnFinding): readonly string[] {
  const { reason, what, means, severity, helps } = finding;
  return [code(reason), what, fieldsOf(column), wordsOf(means) + condition(finding), DOES[severity], helps];
}

function fieldsOf({ names, ownQuery }: Column): string {
  const told = names.map((name) => `${code(name.field)} (${branchesOf(name)})`);
  const before = ownQuery === undefined ? [] : [`before that by ${code(ownQuery.option)} (${ownQuery.from} and later)`];
  return [...told, ...before].join(', ');
}

function branchesOf({ from, until, except }: FieldName): string {
  const but = except === undefined ? '' : ` but ${except}`;
  if (from === undefined) return until === undefined ? `all${but}` : `up to ${until}${but}`;
  return until === undefined ? `${from} and later${but}` : `${from} to ${until}${but}`;
}

function wordsOf(means: Meaning): string {
  switch (means.kind) {
    case 'one_of':
      return means.bad.map(code).join(', ');
    case 'all_but':
      return `any but ${[...means.good, ...means.silent].map(code).join(', ')}`;
    case 'above':
      return `a number above ${means.limit}`;
    default:
      return means satisfies never;
  }
}

function condition({ onlyWhile }: ColumnFinding): string {
  if (onlyWhile === undefined) return '';
  return `, while ${code(COLUMNS[onlyWhile.reading].names[0].field)} is ${code(onlyWhile.says)}`;
}

/** The one finding that any column can have. */
function driverErrorRow(): readonly string[] {
  const shown = READINGS.map((reading) => COLUMNS[reading]).filter(({ role }) => role === 'shown');
  return [
    code('driver_error'),
    'error words in place of a value',
    'any that is asked for, or a complaint in place of the whole row',
    `any in brackets, as ${code('[Unknown Error]')}, but those that say "cannot tell" or speak of permissions; ` +
      `for ${shown.map(({ label }) => label).join(', ')} only those of the whole card, as ${code('[GPU is lost]')}`,
    DOES.unhealthy,
    '`dmesg` for the Xid; reboot',
  ];
}

function code(text: string): string {
  return `\`${text}\``;
}
