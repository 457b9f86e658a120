import { type Numbered, chosenCards, onBus } from './chosen-cards.js';
import { cell } from './fields/cell.js';
import { chosenFields } from './fields/field-table.js';
import type { Seen } from './fields/field.js';
import type { Dialect } from './machine/dialect.js';
import type { Machine } from './machine/machine.js';
import type { Output } from './output.js';

/**
 * What the program prints without arguments: for people only, similar to the real table but not identical in every column.
 */
export function table(machine: Machine, dialect: Dialect, now: Date): Output {
  const cards = chosenCards(machine, dialect, null);
  if ('rc' in cards) return cards;
  const about = { count: onBus(machine).length, driver: machine.driver, dialect, now, process: null };
  const corrupted = machine.fault === 'inforom_corrupted';
  return {
    header: `${now.toString().slice(0, 24)}\n${RULE}${title(machine)}${HEADS}`,
    rows: cards.map((each) => ({ card: each.place, text: boxOf(each, { ...about, ...each }) })),
    end: `\n${processes(machine, cards)}${corrupted ? 'WARNING: infoROM is corrupted\n' : ''}`,
    rc: corrupted ? 14 : 0,
  };
}

const RULE = `+${'-'.repeat(89)}+\n`;
const BOXES = `+${'-'.repeat(41)}+${'-'.repeat(24)}+${'-'.repeat(22)}+\n`;
const HEADS = [
  BOXES,
  '| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n',
  '| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |\n',
  '|                                         |                        |               MIG M. |\n',
  BOXES.replaceAll('-', '=').replaceAll(/^\+|\+$/gm, '|'),
].join('');

function title({ driver, cuda }: Machine): string {
  return `| NVIDIA-SMI ${driver.padEnd(22)} Driver Version: ${driver.padEnd(14)} CUDA Version: ${cuda.padEnd(8)} |\n`;
}

function boxOf({ card, index }: Numbered, seen: Seen): string {
  const [fan, heat, pstate, draw, limit, used, total, busy, mode, errors, mig] = read(seen);
  const name = `${String(index).padStart(4)}  ${card.name.padEnd(27)} ${onOff(card.persistence_mode).padStart(5)}`;
  const power = `${draw} / ${limit}`;
  const rows = [
    [name, `${card.bus_id} ${onOff(card.display_active)}`, errors],
    [
      `${fan?.padStart(4)}  ${heat?.padStart(3)}${heat === 'ERR!' ? '' : 'C'}   ${pstate?.padEnd(8)} ${power.padStart(17)}`,
      `${used} / ${total}`,
      `${busy}  ${mode?.padStart(10)}`,
    ],
    ['', '', mig],
  ];
  const lines = rows.map(
    ([first = '', second = '', third = '']) =>
      `|${first.padEnd(40)} | ${second.padStart(22)} | ${third.padStart(20)} |\n`,
  );
  return `${lines.join('')}${BOXES}`;
}

/** The same columns as in a query, without brackets, and with no blank before the unit. */
function read(seen: Seen): string[] {
  const names =
    'fan.speed,temperature.gpu,pstate,power.draw,power.limit,memory.used,memory.total,utilization.gpu,compute_mode,ecc.errors.uncorrected.volatile.total';
  const asked = seen.dialect.branch < 450 ? names : `${names},mig.mode.current`;
  const fields = chosenFields('gpu', asked.split(','), seen.dialect);
  if (typeof fields === 'string') throw new Error(`The table asks for ${fields}, which is no field`);
  return fields.map((field) => inTable(cell(field, seen, true)));
}

/** Here every error is `ERR!`, and "no value" has no brackets. */
function inTable(text: string): string {
  if (text === '[N/A]' || text === '[Not Supported]') return 'N/A';
  return text.startsWith('[') ? 'ERR!' : text.replace(' ', '');
}

function onOff(flag: boolean): string {
  return flag ? 'On' : 'Off';
}

function processes({ process_list }: Machine, cards: readonly Numbered[]): string {
  const shown = process_list === 'visible' ? cards : [];
  const lines = shown.flatMap(({ card, index }) =>
    card.processes.map(({ pid, name, memory_mib }) => {
      const memory = memory_mib === null ? 'N/A' : `${memory_mib}MiB`;
      return `|${String(index).padStart(5)}   N/A  N/A ${String(pid).padStart(16)}      C   ${name.slice(0, 34).padEnd(34)} ${memory.padStart(10)} |\n`;
    }),
  );
  const none = '|  No running processes found                                                             |\n';
  return `${RULE}${PROCESS_HEADS}${lines.join('') || none}${RULE}`;
}

const PROCESS_HEADS = [
  '| Processes:                                                                              |\n',
  '|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |\n',
  '|        ID   ID                                                               Usage      |\n',
  `|${'='.repeat(89)}|\n`,
].join('');
