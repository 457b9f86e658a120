/** States, times and sizes in words for a person. */

import type { CardState } from './status.js';

/** In the order of the counts at the top. */
export const STATE_WORDS: Readonly<Record<CardState, string>> = {
  free: 'Free',
  job_held: 'Held by a job',
  external: 'Used from outside',
  unhealthy: 'Unhealthy',
  excluded: 'Taken out',
  unknown: 'Unknown',
};

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * A duration: `12 s`, `4 min`, `2 h 14 min`, `3 d 4 h`. Never below 0, since two clocks may differ a little; `some time` if
 * the start was unreadable.
 */
export function lasting(milliseconds: number): string {
  if (Number.isNaN(milliseconds)) return 'some time';
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < MINUTE) return `${seconds} s`;
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min`;
  if (seconds < DAY) return twoParts(seconds, HOUR, 'h', MINUTE, 'min');
  return twoParts(seconds, DAY, 'd', HOUR, 'h');
}

function twoParts(seconds: number, large: number, largeWord: string, small: number, smallWord: string): string {
  const rest = Math.floor((seconds % large) / small);
  return `${Math.floor(seconds / large)} ${largeWord}${rest === 0 ? '' : ` ${rest} ${smallWord}`}`;
}

/** From a time stamp of the gate until `nowMs`. */
export function since(moment: string, nowMs: number): string {
  return lasting(nowMs - Date.parse(moment));
}

/** Hours, minutes and seconds in the reader's time zone, 24-hour clock. */
export function clockTime(moment: number | string): string {
  return new Date(moment).toLocaleTimeString('en-GB');
}

/** `12.3 of 79.6 GiB in use`; names values that could not be read. */
export function memoryWords(used: number | null, size: number | null): string {
  if (used === null && size === null) return 'Memory not read';
  if (size === null) return `${gib(used ?? 0)} GiB in use`;
  return used === null ? `${gib(size)} GiB, use not read` : `${gib(used)} of ${gib(size)} GiB in use`;
}

function gib(bytes: number): string {
  return (bytes / 2 ** 30).toFixed(1);
}

/** `run_id_reused` as `run id reused`. */
export function spaced(code: string): string {
  return code.replaceAll('_', ' ');
}

/** `1 card`, `2 cards`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** A card's uuid, shortened for people. */
export function shortUuid(uuid: string): string {
  return uuid.slice(0, 12);
}

/** `97 % busy · 61 °C · 640 W`; values that the driver does not report are left out. */
export function loadWords(card: {
  readonly utilization_ratio: number | null;
  readonly temperature_celsius: number | null;
  readonly power_watts: number | null;
}): string {
  const { utilization_ratio: ratio, temperature_celsius: celsius, power_watts: watts } = card;
  return [
    ...(ratio === null ? [] : [`${Math.round(ratio * 100)} % busy`]),
    ...(celsius === null ? [] : [`${Math.round(celsius)} °C`]),
    ...(watts === null ? [] : [`${Math.round(watts)} W`]),
  ].join(' · ');
}
