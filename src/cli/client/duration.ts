const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `30m`, `12h`, `7d` in milliseconds; null where it is something else. */
export function durationMs(text: string): number | null {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  return count === undefined || unit === undefined ? null : Number(count) * (UNIT_MS[unit] ?? 0);
}
