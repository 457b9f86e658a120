import type { AskOffLimits, OffLimitsAnswer } from '../../src/model/ports/off-limits.js';

/** What no job is given, as a machine tells it that has these. */
export function known(paths: readonly string[] = [], volumes: readonly string[] = []): OffLimitsAnswer {
  return { kind: 'known', paths, volumes };
}

/** A machine with nothing of that. */
export const nothingOffLimits: AskOffLimits = () => Promise.resolve(known());
