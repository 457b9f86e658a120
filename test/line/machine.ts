import type { CardState } from '../../src/model/card.js';
import type { Occupancy } from '../../src/model/occupancy.js';
import { card, claim, watched } from '../metrics/occupancies.js';

/**
 * A machine, one letter a card: `f` free, `j` held by a job, `s` held and sick, `x` excluded, `e` used from outside,
 * `u` unhealthy.
 */
export function machine(letters: string): Occupancy {
  const state: Record<string, CardState> = {
    f: 'free',
    j: 'job_held',
    s: 'job_held',
    x: 'excluded',
    e: 'external',
    u: 'unhealthy',
  };
  const cards = Array.from(letters, (letter, at) =>
    card(at, {
      state: state[letter]!,
      claims: letter === 'j' || letter === 's' ? [claim(`job-${at}`)] : [],
      unhealthy: letter === 's' || letter === 'u' ? [{ reason: 'ecc_uncorrected', detail: '3 errors' }] : [],
      excluded: letter === 'x' ? { by: 'operator', reason: 'fan', since: null, principal: 'ann', until: null } : null,
      external: letter === 'e' ? { processes: [], memoryMib: 900, containers: [] } : null,
    }),
  );
  return watched(cards).occupancy;
}
