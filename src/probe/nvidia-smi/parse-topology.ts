/** What `nvidia-smi topo -m` says about the links between cards. */

import { LINK_KINDS, type LinkKind } from '../../model/snapshot.js';
import { plain } from '../../text/plain.js';

/** The link between two cards by current index; both directions are present. */
export type Matrix = ReadonlyMap<number, ReadonlyMap<number, LinkKind>>;

/**
 * Parses `nvidia-smi topo -m`. Its header is underlined with escape codes; columns of network cards and affinities are
 * skipped. Where two directions differ, the slower one counts. Null where no card has a row.
 */
export function parseTopology(text: string): Matrix | null {
  let columns: readonly (number | null)[] | null = null;
  const matrix = new Map<number, Map<number, LinkKind>>();
  for (const line of text.split(/\r?\n|\r/)) {
    const [first = '', ...cells] = words(line);
    const row = gpuNumber(first);
    if (row === null) continue;
    if (columns === null) columns = [first, ...cells].map(gpuNumber);
    else addRow(matrix, row, columns, cells);
  }
  return matrix.size === 0 ? null : matrix;
}

/** The slower of two links. */
export function worse(one: LinkKind, other: LinkKind): LinkKind {
  return LINK_KINDS.indexOf(one) > LINK_KINDS.indexOf(other) ? one : other;
}

function addRow(
  matrix: Map<number, Map<number, LinkKind>>,
  row: number,
  columns: readonly (number | null)[],
  cells: readonly string[],
): void {
  linksOf(matrix, row);
  for (const [at, column] of columns.entries()) {
    const link = toLink(cells[at] ?? '');
    if (column === null || column === row || link === null) continue;
    const known = matrix.get(column)?.get(row);
    const settled = known === undefined ? link : worse(known, link);
    linksOf(matrix, row).set(column, settled);
    linksOf(matrix, column).set(row, settled);
  }
}

function linksOf(matrix: Map<number, Map<number, LinkKind>>, index: number): Map<number, LinkKind> {
  const links = matrix.get(index) ?? new Map<number, LinkKind>();
  matrix.set(index, links);
  return links;
}

/**
 * A cell never contains a blank, so blanks and tabs both separate columns; cards come before all columns that may contain
 * one.
 */
function words(line: string): string[] {
  return plain(line).trim().split(/\s+/);
}

function gpuNumber(cell: string): number | null {
  const digits = /^GPU(\d{1,4})$/.exec(cell)?.[1];
  return digits === undefined ? null : Number(digits);
}

function toLink(cell: string): LinkKind | null {
  if (/^NV\d+$/.test(cell)) return 'NV';
  // Drivers before 384 call SYS by this word.
  if (cell === 'SOC') return 'SYS';
  return LINK_KINDS.find((kind) => kind === cell) ?? null;
}
