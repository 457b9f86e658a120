import type { Clock } from '../../model/ports/outside.js';
import type { GpuRow, GpusSeen, Off, Probed } from '../../model/snapshot.js';
import { deadlineIn, type Deadline } from '../../time/deadline.js';
import type { ListCards } from './list-cards.js';
import { parseGpuRows, type ParsedRows } from './parse-gpu-rows.js';
import type { Listed } from './parse-list.js';
import { REMAPPED_FIELDS } from './parse-remapped-rows.js';
import { indexRemarks, placeRows, trulyBroken } from './place-rows.js';
import { blindBecause, type ProcessSlot } from './process-slot.js';
import { isHealthField, type QueryFields } from './query-fields.js';
import { createFallback, onlyOf, type CardsAnswer } from './query-with-fallback.js';
import { withRemapped, type RemappedRows } from './remapped-rows.js';
import { strayRemarks } from './stray-lines.js';

/** The cards, and whether their health could be queried: one query answers both. */
export interface CardsSeen {
  readonly gpus: Probed<GpusSeen>;
  readonly health: Probed<null> | Off;
}

export interface QueryGpusParts {
  readonly slot: ProcessSlot;
  readonly listCards: ListCards;
  readonly remappedRows: RemappedRows;
  readonly fields: QueryFields;
  readonly clock: Clock;
  /** For everything together: the query, its repetition after a broken card, and the remapped rows. */
  readonly timeoutMs: number;
  readonly checkHealth: boolean;
}

/** The gpus probe and, with it, the health probe. */
export function createQueryGpus(parts: QueryGpusParts): () => Promise<CardsSeen> {
  const { slot, listCards, remappedRows, fields, clock, timeoutMs, checkHealth } = parts;
  let driverVersion: string | null = null;
  const args = (of: Parameters<typeof onlyOf>[0]): readonly string[] => [
    ...onlyOf(of),
    `--query-gpu=${fields.list().join(',')}`,
    '--format=csv,noheader,nounits',
  ];
  const ask = createFallback(slot, listCards, { args, refused: fields.refused });

  return async () => {
    const deadline = deadlineIn(timeoutMs, clock);
    if (checkHealth && !hasRemapped(fields.list())) remappedRows.begin();
    const answer = await ask(deadline);
    const asked = fields.list();
    if (answer.kind === 'all_broken') return allBroken(answer, checkHealth, deadline);
    const parsed = answer.kind === 'answered' ? parseGpuRows(answer.stdout, asked) : NOTHING;
    if (answer.kind === 'blind' || parsed.rows.length === 0) {
      remappedRows.unseen();
      const blind = blindOf(answer, deadline);
      return { gpus: blind, health: checkHealth ? blind : { kind: 'off' } };
    }
    noteDriver(parsed.driverVersion);
    const dropped = parsed.driverCount !== null && parsed.rows.length < parsed.driverCount;
    const listed = answer.listed ?? (dropped ? await listCards(deadline) : null);
    const { rows, health } = await examine(parsed.rows, asked, answer.listed, deadline);
    return { gpus: { kind: 'seen', value: toSeen(parsed, rows, listed), tookMs: deadline.took() }, health };
  };

  /** Only successful runs tell the version; when it changes, everything learned about the old driver is forgotten. */
  function noteDriver(version: string | null): void {
    fields.under(version);
    if (driverVersion !== null && version !== driverVersion) remappedRows.forget();
    driverVersion = version;
  }

  async function examine(
    rows: readonly GpuRow[],
    asked: readonly string[],
    listed: Listed | null,
    deadline: Deadline,
  ): Promise<{ rows: readonly GpuRow[]; health: Probed<null> | Off }> {
    if (!checkHealth) return { rows, health: { kind: 'off' } };
    const healthAsked = (): Probed<null> => ({ kind: 'seen', value: null, tookMs: deadline.took() });
    if (hasRemapped(asked)) return { rows, health: healthAsked() };
    const uuids = rows.flatMap(({ uuid }) => (uuid === null ? [] : [uuid]));
    const remapped = await remappedRows.now({ askable: listed?.indices ?? null, uuids }, deadline);
    if (remapped.kind === 'known') {
      return { rows: withRemapped(rows, remapped.byUuid), health: remapped.blind ?? healthAsked() };
    }
    return { rows, health: asked.some((field) => isHealthField(field)) ? healthAsked() : knowsNone(deadline) };
  }
}

const NOTHING: ParsedRows = { rows: [], driverCount: null, driverVersion: null, strays: [] };

function hasRemapped(asked: readonly string[]): boolean {
  return REMAPPED_FIELDS.every((field) => asked.includes(field));
}

/** No handle of any card works: each is known by its message in `-L`, and no card is left to query. */
function allBroken(
  { listed, blind }: Extract<CardsAnswer, { kind: 'all_broken' }>,
  checkHealth: boolean,
  deadline: Deadline,
): CardsSeen {
  const value = { rows: [], broken: listed.broken, driverCount: null, driverVersion: null };
  return { gpus: { kind: 'seen', value, tookMs: deadline.took() }, health: checkHealth ? blind : { kind: 'off' } };
}

function toSeen(parsed: ParsedRows, rows: readonly GpuRow[], listed: Listed | null): GpusSeen {
  const placed = placeRows(rows, parsed.driverCount);
  const remarks = [...strayRemarks(parsed.strays), ...indexRemarks(rows)];
  return {
    rows: placed,
    broken: trulyBroken(listed?.broken ?? [], placed),
    driverCount: parsed.driverCount,
    driverVersion: parsed.driverVersion,
    ...(remarks.length === 0 ? {} : { remarks }),
  };
}

function blindOf(
  answer: Exclude<CardsAnswer, { kind: 'all_broken' }>,
  deadline: Deadline,
): Probed<never> & { kind: 'blind' } {
  if (answer.kind === 'blind') return answer.blind;
  // Exit code 0 without a row never means a machine without cards.
  return blindBecause(
    { kind: 'exited', rc: 0, stdout: answer.stdout, stderr: '' },
    'nvidia-smi --query-gpu',
    deadline.took(),
  );
}

function knowsNone(deadline: Deadline): Probed<null> {
  const detail = 'this driver knows none of the health columns';
  return { kind: 'blind', why: 'exit', detail, tookMs: deadline.took() };
}
