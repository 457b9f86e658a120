import { z } from 'zod';
import { durationMs } from './duration.js';

export type TimeMeant =
  | { readonly kind: 'time'; readonly time: string }
  /** `detail` says what came and what was expected. */
  | { readonly kind: 'neither'; readonly detail: string };

const withZone = z.iso.datetime({ offset: true });

/** From `2h` (from now on, by the clock of this machine) or a time with a zone. Whether it lies ahead is left to the gate. */
export function timeMeant(text: string, nowMs: number): TimeMeant {
  const ms = durationMs(text);
  if (ms !== null) return { kind: 'time', time: new Date(nowMs + ms).toISOString() };
  if (withZone.safeParse(text).success) return { kind: 'time', time: text };
  const detail = `${JSON.stringify(text)}: expected 30m, 2h, 7d, or a time with a zone, like 2026-12-01T18:00:00Z`;
  return { kind: 'neither', detail };
}
