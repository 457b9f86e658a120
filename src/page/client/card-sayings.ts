/** Everything about one card, as lines: who holds it, who uses it from outside, what is wrong with it. */

import type { Card, Excluded, ExternalUse, Holder } from './status.js';
import { counted, lasting, since, spaced } from './words.js';

export interface Saying {
  readonly kind: 'held' | 'external' | 'unhealthy' | 'excluded' | 'unknown' | 'warning';
  /** Shown first and in bold. */
  readonly what: string;
  readonly detail: string;
}

/** Every finding, whatever the state of the card: a held card that is unhealthy shows both. */
export function sayingsOf(card: Card, nowMs: number): Saying[] {
  const { held_by, claims, excluded, external, unhealthy, warnings, failed_starts, unknown_because, reserved_for } =
    card;
  return [
    ...(held_by === null ? [] : [heldSaying(held_by, nowMs)]),
    ...(claims > 1 ? [say('unhealthy', 'Double booking', `${claims} live containers claim this card`)] : []),
    ...idleSayings(card),
    ...(reserved_for === null ? [] : [say('held', `Kept for ${reserved_for}`, 'which has waited longest')]),
    ...unhealthy.map(({ reason, detail }) => say('unhealthy', reasonWords(reason), detail)),
    ...(external === null ? [] : externalSayings(external, held_by !== null)),
    ...(excluded === null ? [] : [excludedSaying(excluded, nowMs)]),
    ...(unknown_because === null
      ? []
      : [say('unknown', 'Not seen well enough', UNKNOWN[unknown_because] ?? unknown_because)]),
    ...warnings.map(({ reason, detail }) => say('warning', reasonWords(reason), detail)),
    ...(failed_starts === 0
      ? []
      : [
          say('warning', `${counted(failed_starts, 'start')} failed`, 'none succeeded since: picked last, for an hour'),
        ]),
  ];
}

const UNKNOWN: Readonly<Record<string, string>> = {
  blind: 'the driver gave no answer',
  docker: 'whether a job holds it is not known',
  memory: 'the driver does not say how much memory is in use',
  permission: 'not permitted to look at it',
  short_row: 'the driver printed its row incompletely',
  uuid: 'its uuid is of a form that is not known here',
};

const EXCLUDED_BY: Readonly<Record<string, string>> = {
  operator: 'by an operator',
  settings: 'by the settings',
  mig: 'MIG is on',
  compute_mode: 'compute mode Prohibited',
  count: 'beyond the configured count',
};

/** More than this are counted, not listed. */
const LISTED = 3;

/** Shorter pauses are usual: data is loaded, a checkpoint is written. */
const IDLE_WORTH_TELLING_S = 300;

function idleSayings({ held_idle_seconds: seconds }: Card): Saying[] {
  if (seconds === null || seconds < IDLE_WORTH_TELLING_S) return [];
  return [say('warning', 'Held and idle', `no process and no utilisation for ${Math.floor(seconds / 60)} min`)];
}

function heldSaying({ run_id, state, since: began, principal }: Holder, nowMs: number): Saying {
  const by = principal === null ? [] : [`by ${principal}`];
  return say('held', run_id, [spaced(state), `for ${since(began, nowMs)}`, ...by].join(' · '));
}

/** On a held card the memory in use is the job's own, and no sign of outside use. */
function externalSayings({ processes, memory_mib, containers }: ExternalUse, held: boolean): Saying[] {
  const more = processes.length - LISTED;
  const unlisted = !held && processes.length === 0 && memory_mib !== null;
  return [
    ...processes
      .slice(0, LISTED)
      .map(({ pid, name, memory_mib: mib }) =>
        say('external', name, mib === null ? `pid ${pid}` : `pid ${pid} · ${mib} MiB`),
      ),
    ...(more > 0 ? [say('external', `and ${more} more`, counted(processes.length, 'process', 'processes'))] : []),
    ...(unlisted ? [say('external', 'Memory in use', `${memory_mib} MiB and no process listed`)] : []),
    ...containers.map((name) => say('external', name, 'a container that was given this card')),
  ];
}

function excludedSaying(excluded: Excluded, nowMs: number): Saying {
  const { by, reason, since: began, principal, until } = excluded;
  const words = [
    principal === null ? (EXCLUDED_BY[by] ?? by) : `by ${principal}`,
    ...(began === null ? [] : [`for ${since(began, nowMs)}`]),
    ...(until === null ? [] : [`ends in ${lasting(Date.parse(until) - nowMs)}`]),
  ];
  return say('excluded', reason, words.join(' · '));
}

function say(kind: Saying['kind'], what: string, detail: string): Saying {
  return { kind, what, detail };
}

/** `ecc_uncorrected` as `ECC uncorrected`, all others with a capital. */
function reasonWords(reason: string): string {
  const words = spaced(reason).replace(/^(ecc|hw)\b/, (short) => short.toUpperCase());
  return words.charAt(0).toUpperCase() + words.slice(1);
}
