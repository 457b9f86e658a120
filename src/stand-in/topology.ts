import { chosenCards } from './chosen-cards.js';
import type { Dialect } from './machine/dialect.js';
import type { Machine } from './machine/machine.js';
import type { Output } from './output.js';

/** `topo -m`: the links between cards. The heading is underlined with escape codes, even without a terminal. */
export function topology(machine: Machine, dialect: Dialect): Output {
  const cards = chosenCards(machine, dialect, null);
  if ('rc' in cards) return cards;
  const more = ['CPU Affinity', 'NUMA Affinity', ...(dialect.branch < 535 ? [] : ['GPU NUMA ID'])];
  const header = [...cards.map(({ index }) => `GPU${index}`), ...more].join('\t');
  const lines = cards.map(({ index, place }) => {
    const links = cards.map((other) => link(machine, place, other.place));
    // Two tabs before the last column: the real program leaves one empty.
    const affinity = ['0-95', '0', ...(dialect.branch < 535 ? [] : ['', 'N/A'])];
    return { card: place, text: `${[`GPU${index}`, ...links, ...affinity].join('\t')}\n` };
  });
  return { header: `\t\u001B[4m${header}\u001B[0m\n`, rows: lines, end: LEGEND, rc: 0 };
}

/** As wide as in the real program: ` X `, `NV18`, `SYS`. */
function link({ topology: matrix }: Machine, row: number, column: number): string {
  return row === column ? ' X ' : (matrix?.[row]?.[column] ?? 'SYS');
}

const LEGEND = `
Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)
  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node
  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)
  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)
  PIX  = Connection traversing at most a single PCIe bridge
  NV#  = Connection traversing a bonded set of # NVLinks
`;
