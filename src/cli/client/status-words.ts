/** The status of a gate and its cards, as lines for a terminal. Pure. */

import { plain } from '../../text/plain.js';
import { table, wrap } from '../terminal/table.js';
import type { ShownCard, ShownCards, ShownPlace, ShownReadiness } from './gate-shapes.js';

export interface Shown {
  /** The gate's address. */
  readonly where: string;
  readonly cards: ShownCards;
  /** Null where it did not answer. */
  readonly readiness: ShownReadiness | null;
  /** Who waits, longest wait first; null where the gate did not say. */
  readonly line: readonly ShownPlace[] | null;
}

/** Lines of at most `width` characters. */
export function statusLines({ where, cards, readiness, line }: Shown, width: number): readonly string[] {
  const rows = cards.cards.map((card) => [
    String(card.index ?? '-'),
    card.name ?? '-',
    card.state,
    card.held_by?.run_id ?? '-',
    memory(card),
    load(card),
    why(card).join('; '),
  ]);
  const grid = table(['card', 'name', 'state', 'holder', 'memory', 'load', 'why'], rows.map(harmless), width);
  const probes = Object.entries(cards.probes).map(([name, probe]) => `${name} ${probeWords(probe)}`);
  const paragraph = (text: string): readonly string[] => wrap(plain(text), width);
  return [
    ...paragraph(`${where}  ${readyWords(readiness)}  looked at ${cards.observed_at}`),
    ...paragraph(cards.explain),
    '',
    ...(rows.length === 0 ? ['no card is known'] : grid),
    '',
    ...lineLines(line, cards, width),
    ...paragraph(`probes: ${probes.join(', ')}`),
    ...(readiness === null ? [] : paragraph(`lock: ${lockWords(readiness)}`)),
    ...cards.notes.flatMap((note) => paragraph(`note: ${note}`)),
  ];
}

/** Nothing where nobody waits. */
function lineLines(line: readonly ShownPlace[] | null, { cards }: ShownCards, width: number): readonly string[] {
  if (line === null) return ['the gate does not say who waits', ''];
  if (line.length === 0) return [];
  const rows = line.map((place) => {
    const kept = cards.filter((card) => card.reserved_for === place.run_id).map(({ index }) => index ?? '?');
    return [
      String(place.position),
      place.run_id,
      place.principal,
      String(place.count),
      waitWords(place.waiting_seconds),
      place.since.replace(/\.\d+/, ''),
      kept.length === 0 ? '' : `kept for it: ${kept.join(', ')}`,
    ];
  });
  return [...table(['place', 'run', 'user', 'cards', 'waits', 'since', ''], rows.map(harmless), width), ''];
}

/** `41 s`, `12 min`, `3 h 5 min`. */
function waitWords(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const harmless = (row: readonly string[]): readonly string[] => row.map(plain);

function readyWords(readiness: ShownReadiness | null): string {
  if (readiness === null) return 'does not say whether it is ready';
  if (readiness.ready) return 'ready';
  const missing = Object.entries(readiness.parts).filter(([, { ok }]) => !ok);
  return `NOT READY (${missing.map(([name, { detail }]) => `${name}: ${detail ?? 'no'}`).join('; ')})`;
}

function lockWords({ parts }: ShownReadiness): string {
  const lock = parts['lock'];
  if (lock === undefined) return 'not told';
  return lock.ok ? 'available' : `not available: ${lock.detail ?? 'no reason told'}`;
}

function probeWords({ ok, took_ms: tookMs, detail }: ShownCards['probes'][string]): string {
  if (ok === null) return 'off';
  const took = tookMs === null || tookMs === undefined ? '' : ` ${tookMs} ms`;
  return ok ? `ok${took}` : `BLIND (${detail ?? 'no reason told'})`;
}

function memory({ memory_used_bytes: used, memory_size_bytes: size }: ShownCard): string {
  return `${gib(used)} / ${gib(size)} GiB`;
}

/** `97 % 61 °C 640 W`; values that the driver does not report are left out. */
function load({ utilization_ratio: ratio, temperature_celsius: celsius, power_watts: watts }: ShownCard): string {
  const parts = [
    ...(ratio == null ? [] : [`${Math.round(ratio * 100)} %`]),
    ...(celsius == null ? [] : [`${Math.round(celsius)} °C`]),
    ...(watts == null ? [] : [`${Math.round(watts)} W`]),
  ];
  return parts.length === 0 ? '-' : parts.join(' ');
}

/** Shorter pauses are usual: data is loaded, a checkpoint is written. */
const IDLE_WORTH_TELLING_S = 300;

function idleWords({ held_idle_seconds: seconds }: ShownCard): readonly string[] {
  if (seconds == null || seconds < IDLE_WORTH_TELLING_S) return [];
  return [`held and idle for ${Math.floor(seconds / 60)} min`];
}

function gib(bytes: number | null): string {
  return bytes === null ? '?' : (bytes / 2 ** 30).toFixed(1);
}

/** `out by ann until 2026-12-01T18:00:00.000Z: fan`; the kind of exclusion where nobody's name stands for it. */
function outWords({ by, reason, principal, until }: NonNullable<ShownCard['excluded']>): string {
  return `out by ${principal ?? by}${until == null ? '' : ` until ${until}`}: ${reason}`;
}

/** All findings about a card, whatever its state. */
function why(card: ShownCard): readonly string[] {
  const { external } = card;
  return [
    ...(card.claims > 1 ? [`CLAIMED ${card.claims} TIMES`] : []),
    ...(card.held_by !== null && card.held_by.state !== 'running' ? [`container ${card.held_by.state}`] : []),
    ...idleWords(card),
    ...(card.excluded === null ? [] : [outWords(card.excluded)]),
    ...(card.reserved_for == null ? [] : [`kept for ${card.reserved_for}`]),
    ...card.unhealthy.map(({ detail }) => detail),
    ...(external?.processes ?? []).map(
      ({ pid, name, memory_mib: mib }) => `${name} pid ${pid}${mib === null ? '' : `, ${mib} MiB`}`,
    ),
    ...(external?.containers ?? []).map((container) => `container ${container}`),
    ...(external !== null && external.processes.length === 0 && external.memory_mib !== null
      ? [`${external.memory_mib} MiB in use by an unknown process`]
      : []),
    ...(card.unknown_because == null ? [] : [`could not be seen: ${card.unknown_because}`]),
    ...card.warnings.map(({ detail }) => `warning: ${detail}`),
    ...(card.failed_starts === 0 ? [] : [`starts that failed within the hour: ${card.failed_starts}; picked last`]),
  ];
}
