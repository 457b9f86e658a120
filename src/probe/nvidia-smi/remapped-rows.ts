/** The remapped rows, for which drivers before 590 have a separate query. */

import type { CardIndex, CardUuid } from '../../model/card.js';
import { REMAPPED_ROWS } from '../../model/columns.js';
import type { Clock } from '../../model/ports/outside.js';
import type { GpuRow, Probed, Readings } from '../../model/snapshot.js';
import { deadlineIn, type Deadline } from '../../time/deadline.js';
import { inTime } from '../../time/in-time.js';
import { parseRemappedRows, REMAPPED, REMAPPED_FIELDS, type RemappedByUuid } from './parse-remapped-rows.js';
import { blindBecause, type Answer, type ProcessSlot } from './process-slot.js';
import { onlyOf } from './query-with-fallback.js';

/**
 * The remapped rows of the cards, as far as known. `byUuid` is the driver's last answer for each; `blind` says why nothing
 * newer is known, or nothing of some card. `refused`: the driver does not know the query, so nothing is known of any card.
 */
export type Remapped =
  | { readonly kind: 'known'; readonly byUuid: RemappedByUuid; readonly blind: Blind | null }
  | { readonly kind: 'refused' };
type Blind = Probed<never> & { kind: 'blind' };

/** The cards of a look: those that can be queried, null for all, and those that it shows. */
export interface CardsShown {
  readonly askable: readonly CardIndex[] | null;
  readonly uuids: readonly CardUuid[];
}

export interface RemappedRows {
  /** Starts the program in parallel to the query of the cards, if the next query is due. */
  begin(): void;
  /** What is known of these cards. A card that the last look did not show is queried at once. Waits only for a moment. */
  now(shown: CardsShown, deadline: Deadline): Promise<Remapped>;
  /** The cards could not be seen: once they are back they are queried at once, and until then the last answers remain. */
  unseen(): void;
  /** The driver has changed: discards the old one's answers. */
  forget(): void;
}

/** They rarely change, and a query costs a process. A failed answer is never reused. */
const GOOD_FOR_MS = 60_000;
/**
 * How long a look waits for them once it has its cards, if something is known of each: a program that hangs must not delay
 * it longer. For a card without any answer, it waits for half of its remaining time.
 */
const WAIT_MS = 1000;

interface Known {
  /** The last answer for each card, including earlier ones. */
  readonly byUuid: RemappedByUuid;
  /** The cards that the last good answer names. */
  readonly named: ReadonlySet<CardUuid>;
  readonly askedAt: number;
  readonly failed: Blind | null;
  readonly refused: boolean;
}
const NOBODY: CardsShown = { askable: null, uuids: [] };
const NOTHING: Known = { byUuid: new Map(), named: new Set(), askedAt: -Infinity, failed: null, refused: false };

/** The separate query of drivers before 590 for remapped rows. `timeoutMs` limits one run of it. */
export function createRemappedRows(slot: ProcessSlot, clock: Clock, timeoutMs: number): RemappedRows {
  let known = NOTHING;
  let last = NOBODY;
  let running: Promise<void> | null = null;
  /** The cards of the last run's query, as in its arguments. */
  let lastAsked = '';
  /** Whether this look has already started a query, and when; infinity where it did not say. */
  let begun = false;
  let lookAt = Infinity;
  let driver = 0;

  const isDue = (): boolean => known.failed !== null || clock.monotonic() - known.askedAt >= GOOD_FOR_MS;

  function ask(askable: CardsShown['askable']): Promise<void> {
    running ??= askOnce(askable).finally(() => {
      running = null;
    });
    return running;
  }

  async function askOnce(askable: CardsShown['askable']): Promise<void> {
    const asked = { deadline: deadlineIn(timeoutMs, clock), at: clock.monotonic(), of: driver };
    lastAsked = onlyOf(askable).join();
    const fields = ['gpu_uuid', ...REMAPPED_FIELDS].join(',');
    const query = [...onlyOf(askable), `${REMAPPED_ROWS.option}=${fields}`, '--format=csv,noheader,nounits'];
    const answer = await slot.ask(query, timeoutMs);
    if (asked.of === driver) known = learned(known, answer, asked.at, asked.deadline.took());
  }

  /** A run that began with the look, or before it, may not include a new card, or know that one of them is broken. */
  async function askAbout({ askable, uuids }: CardsShown, newcomers: readonly CardUuid[]): Promise<void> {
    if (running !== null) await running;
    const others = lastAsked !== onlyOf(askable).join();
    const untold = newcomers.length > 0 && (known.askedAt < lookAt || newcomers.some((uuid) => !known.named.has(uuid)));
    const due = isDue() && (!begun || others);
    if (!known.refused && uuids.length > 0 && (due || untold)) await ask(askable);
  }

  return {
    begin: () => {
      lookAt = clock.monotonic();
      if (known.refused || !isDue()) return;
      begun = true;
      void ask(last.askable);
    },
    now: async (shown, deadline) => {
      const newcomers = shown.uuids.filter((uuid) => !last.uuids.includes(uuid));
      last = shown;
      const began = clock.monotonic();
      const nothingOf = (uuid: CardUuid): boolean => !known.byUuid.has(uuid);
      const limit = shown.uuids.some(nothingOf) ? deadline.left() / 2 : Math.min(WAIT_MS, deadline.left());
      if (!known.refused) await inTime(askAbout(shown, newcomers), limit, clock);
      begun = false;
      lookAt = Infinity;
      if (known.refused) return { kind: 'refused' };
      const untold = running !== null && shown.uuids.some(nothingOf);
      const blind = known.failed ?? (untold ? late(clock.monotonic() - began) : null);
      return { kind: 'known', byUuid: known.byUuid, blind };
    },
    unseen: () => {
      last = NOBODY;
      begun = false;
    },
    forget: () => {
      known = NOTHING;
      driver += 1;
    },
  };
}

/** The rows with these readings in the place of columns that the driver does not have. */
export function withRemapped(rows: readonly GpuRow[], byUuid: RemappedByUuid): readonly GpuRow[] {
  return rows.map((row) => {
    const said = row.uuid === null ? undefined : byUuid.get(row.uuid);
    return said === undefined ? row : { ...row, readings: { ...row.readings, ...lackingIn(row.readings, said) } };
  });
}

function lackingIn(readings: Readings, said: Partial<Readings>): Partial<Readings> {
  const lacking = REMAPPED.filter((reading) => readings[reading].kind === 'absent');
  return Object.fromEntries(lacking.map((reading) => [reading, said[reading]]));
}

function learned(before: Known, answer: Answer, askedAt: number, tookMs: number): Known {
  if (answer.kind === 'exited' && answer.rc === 0) {
    const said = parseRemappedRows(answer.stdout);
    const byUuid = new Map([...before.byUuid, ...said]);
    return { byUuid, named: new Set(said.keys()), askedAt, failed: null, refused: false };
  }
  if (answer.kind === 'exited' && isRefusal(answer)) return { ...before, refused: true };
  return { ...before, failed: blindBecause(answer, `nvidia-smi ${REMAPPED_ROWS.option}`, tookMs) };
}

/** Exit code 2 for a field; before 450 the whole option is unknown, with exit code 255. */
function isRefusal(answer: Answer & { kind: 'exited' }): boolean {
  return answer.rc === 2 || (answer.rc !== 0 && /is not recognized/i.test(answer.stdout));
}

function late(tookMs: number): Blind {
  const detail = `nvidia-smi ${REMAPPED_ROWS.option} has not answered yet; the look does not wait for it`;
  return { kind: 'blind', why: 'timeout', detail, tookMs: Math.round(tookMs) };
}
