import type { AskOffLimits, OffLimitsAnswer } from '../../src/model/ports/off-limits.js';

/** The forbidden paths and volumes of a simulated machine. */
export function known(paths: readonly string[] = [], volumes: readonly string[] = []): OffLimitsAnswer {
  return { kind: 'known', paths, volumes };
}

/** A machine without forbidden paths. */
export const nothingOffLimits: AskOffLimits = () => Promise.resolve(known());
