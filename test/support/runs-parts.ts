import type { Principal } from '../../src/model/admission.js';
import { systemClock } from '../../src/time/system-clock.js';

/** May do everything to every run. */
export const OPERATOR: Principal = { name: 'ops', roles: ['operate'] };

/** The parts of `createRuns` where nobody waits in line and nothing is being started. */
export const quietParts = {
  line: { place: () => null, places: () => [], takeAway: () => false },
  starting: { of: () => null, isOwn: () => true },
  clock: systemClock,
};
