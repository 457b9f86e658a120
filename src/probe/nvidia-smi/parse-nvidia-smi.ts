import { cardIndex, cardUuid, type CardIndex, type CardUuid } from '../../model/card.js';
import type { ComputeProcess, GpuRow, HealthReadings, Reading } from '../../model/snapshot.js';
import { clean, readMib, readText, textOrNull } from './cell.js';
import { isOutOfPlace } from './column-shapes.js';

/** The rows of one `--query-gpu`, in the order printed, with what every row says of the whole machine. */
export interface ParsedRows {
  readonly rows: readonly GpuRow[];
  readonly driverCount: number | null;
  readonly driverVersion: string | null;
}

/**
 * Reads the output of `--query-gpu=<fields> --format=csv`. By position: the program heads some columns by another name than
 * the one asked for. A header, blank lines, units and padding are no harm; a line that is no row is passed over. The last
 * field takes what is left of its row.
 */
export function parseGpuRows(text: string, fields: readonly string[]): ParsedRows {
  const rows: GpuRow[] = [];
  const uuids = new Set<CardUuid>();
  let driverCount: number | null = null;
  for (const line of lines(text)) {
    const cells = splitRow(line, fields.length);
    if (!isGpuRow(cells, fields)) continue;
    const row = toGpuRow(line, fields);
    if (row.uuid !== null && uuids.has(row.uuid)) continue;
    if (row.uuid !== null) uuids.add(row.uuid);
    rows.push(row);
    if (!row.short) driverCount ??= wholeNumber(cells[fields.indexOf('count')]);
  }
  return { rows, driverCount, driverVersion: rows.find((row) => row.driverVersion !== null)?.driverVersion ?? null };
}

/** The process list, and how many rows spoke of a card whose list the driver cannot read; `unlisted` are those that it names. */
export interface ParsedProcesses {
  readonly processes: readonly ComputeProcess[];
  readonly unreadable: number;
  readonly unlisted: readonly CardUuid[];
}

/**
 * Reads `--query-compute-apps=gpu_uuid,pid,process_name,used_memory`, from both ends, since a name may hold anything. A card
 * whose list cannot be read has a row too: only a numeric pid makes a process.
 */
export function parseProcesses(text: string): ParsedProcesses {
  const processes: ComputeProcess[] = [];
  const unlisted: CardUuid[] = [];
  let unreadable = 0;
  for (const line of lines(text)) {
    const [first, second, ...rest] = line.split(',').map(clean);
    if (first === undefined || second === undefined || first === 'gpu_uuid') continue;
    const uuid = uuidOf(first);
    const pid = wholeNumber(second);
    if (uuid === null || pid === null) {
      unreadable += 1;
      if (uuid !== null) unlisted.push(uuid);
      continue;
    }
    const memory = rest.length > 1 ? readMib(rest.pop()) : null;
    processes.push({
      uuid,
      pid,
      name: clean(rest.join(', ')),
      memoryMib: memory?.kind === 'value' ? memory.value : null,
    });
  }
  return { processes, unreadable, unlisted };
}

/** What the third query says of one card's remapped rows. */
export interface RemappedRows {
  readonly pending: Reading<string>;
  readonly failure: Reading<string>;
}

/**
 * Reads `--query-remapped-rows=gpu_uuid,remapped_rows.pending,remapped_rows.failure`, which prints 0 and 1 for No and Yes. From
 * both ends: a comma in the column between must not hide a failure.
 */
export function parseRemappedRows(text: string): ReadonlyMap<CardUuid, RemappedRows> {
  const byUuid = new Map<CardUuid, RemappedRows>();
  for (const line of lines(text)) {
    const [first, ...columns] = line.split(',').map(clean);
    const uuid = uuidOf(first);
    const [failure, ...before] = columns.toReversed();
    const pending = columns.length > 1 ? before.toReversed().join(', ') : undefined;
    if (uuid !== null) byUuid.set(uuid, { pending: yesNo(pending), failure: yesNo(failure) });
  }
  return byUuid;
}

/** The field that the driver refused, from its own sentence; null where the words are others. */
export function refusedField(stdout: string): string | null {
  return /Field "([^"]+)" is not a valid field to query/.exec(stdout)?.[1] ?? null;
}

/** Only a line feed ends a line: a carriage return inside a cell must not make two cards of one. */
function lines(text: string): string[] {
  return text.split('\n').filter((line) => line.trim() !== '');
}

function splitRow(line: string, columns: number): string[] {
  const cells = line.split(',');
  const rest = cells.splice(columns - 1);
  if (rest.length > 0) cells.push(rest.join(','));
  return cells.map(clean);
}

/** A row starts with an index, or with an error word where the card cannot even tell that, or it has a whole uuid in its place. */
function isGpuRow(cells: readonly string[], fields: readonly string[]): boolean {
  const index = cells[fields.indexOf('index')] ?? '';
  if (wholeNumber(index) !== null || wholeUuid(cells[fields.indexOf('uuid')]) !== undefined) return true;
  return readText(index).kind !== 'value' && readText(index).kind !== 'unreadable';
}

function toGpuRow(line: string, fields: readonly string[]): GpuRow {
  const whole = splitRow(line, fields.length);
  const outOfPlace = isOutOfPlace(line.split(',').map(clean), fields);
  const short = outOfPlace || whole.length < fields.length;
  const cells = outOfPlace ? onlyWhoItIs(whole, fields) : short ? whole.slice(0, -1) : whole;
  const cell = (field: string): string | undefined => {
    const at = fields.indexOf(field);
    return at === -1 ? undefined : cells[at];
  };
  // The last cell of a row that breaks off may be half of what it was; a whole uuid is not.
  const uuid = cell('uuid') ?? (outOfPlace ? undefined : wholeUuid(whole[fields.indexOf('uuid')]));
  return {
    index: indexOf(cell('index')),
    uuid: uuidOf(uuid),
    name: textOrNull(cell('name')),
    pciBusId: busId(cell('pci.bus_id')),
    driverVersion: versionOf(cell('driver_version')),
    memoryUsedMib: readMib(cell('memory.used')),
    memoryTotalMib: readMib(cell('memory.total')),
    persistenceMode: readText(cell('persistence_mode')),
    migMode: readText(cell('mig.mode.current')),
    health: toHealth(cell),
    short,
  };
}

/** Of a row whose columns moved: its index and uuid where both stand as they should, else a whole uuid wherever it stands. */
function onlyWhoItIs(cells: readonly string[], fields: readonly string[]): (string | undefined)[] {
  const who = Array.from(fields, (): string | undefined => undefined);
  const [index, uuid] = [fields.indexOf('index'), fields.indexOf('uuid')];
  const inPlace = wholeUuid(cells[uuid]);
  if (inPlace !== undefined) who[index] = cells[index];
  who[uuid] = inPlace ?? cells.find((cell) => wholeUuid(cell) !== undefined);
  return who;
}

function toHealth(cell: (field: string) => string | undefined): HealthReadings {
  return {
    retiredPagesPending: readText(cell('retired_pages.pending')),
    eccUncorrected: readText(cell('ecc.errors.uncorrected.volatile.total')),
    hwSlowdown: readText(cell('clocks_throttle_reasons.hw_slowdown') ?? cell('clocks_event_reasons.hw_slowdown')),
    rowRemapFailure: readText(cell('remapped_rows.failure')),
    rowRemapPending: readText(cell('remapped_rows.pending')),
    recoveryAction: readText(cell('gpu_recovery_action')),
    resetRequired: readText(cell('reset_status.reset_required')),
    fabricState: readText(cell('fabric.state')),
    fabricStatus: readText(cell('fabric.status')),
  };
}

function indexOf(cell: string | undefined): CardIndex | null {
  const number = wholeNumber(cell);
  return number === null ? null : cardIndex(number);
}

function wholeNumber(cell: string | undefined): number | null {
  return cell !== undefined && /^\d{1,9}$/.test(cell) ? Number(cell) : null;
}

function wholeUuid(cell: string | undefined): string | undefined {
  return cell !== undefined && /^GPU-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(cell) ? cell : undefined;
}

/** A uuid as any branch prints one; any other text is no card's identity. */
function uuidOf(cell: string | undefined): CardUuid | null {
  return cell !== undefined && /^GPU-[0-9a-z-]+$/i.test(cell) ? cardUuid(cell) : null;
}

function versionOf(cell: string | undefined): string | null {
  return cell !== undefined && /^\d+(?:\.\d+)+$/.test(cell) ? cell : null;
}

function busId(cell: string | undefined): string | null {
  const text = textOrNull(cell);
  return text !== null && /^[0-9a-f]+:[0-9a-f]+:[0-9a-f]+\.[0-9a-f]+$/i.test(text) ? text : null;
}

function yesNo(cell: string | undefined): Reading<string> {
  const reading = readText(cell);
  if (reading.kind !== 'value') return reading;
  if (reading.value === '0') return { kind: 'value', value: 'No' };
  if (reading.value === '1') return { kind: 'value', value: 'Yes' };
  return reading;
}
