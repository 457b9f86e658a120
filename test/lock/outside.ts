import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock, Log } from '../../src/model/ports/outside.js';
import { systemClock } from '../../src/time/system-clock.js';

/** The real clocks, each of which a test can advance separately. */
export interface PushableClock extends Clock {
  pushWall(ms: number): void;
  pushMonotonic(ms: number): void;
}

export function pushableClock(): PushableClock {
  let wall = 0;
  let monotonic = 0;
  return {
    ...systemClock,
    now: () => Date.now() + wall,
    monotonic: () => performance.now() + monotonic,
    pushWall: (ms) => void (wall += ms),
    pushMonotonic: (ms) => void (monotonic += ms),
  };
}

/** A log that stores its lines: `warn: sentence`. */
export interface RecordingLog extends Log {
  readonly lines: readonly string[];
}

export function recordingLog(): RecordingLog {
  const lines: string[] = [];
  const at = (level: string) => (_data: object, sentence: string) => void lines.push(`${level}: ${sentence}`);
  return { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

export function countingMeter(): { readonly lost: number; lockLost(): void } {
  let lost = 0;
  return {
    get lost() {
      return lost;
    },
    lockLost: () => void (lost += 1),
  };
}

export const never = (): AbortSignal => new AbortController().signal;

export const within = (ms: number): AbortSignal => AbortSignal.timeout(ms);

export function emptyFolder(): string {
  return mkdtempSync(join(tmpdir(), 'state-'));
}
