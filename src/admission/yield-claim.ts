/** The result for a claim that may not be started. */

import type { Hands } from '../model/ports/hands.js';
import type { Meter } from '../model/ports/meter.js';
import { refuse } from '../model/refuse.js';
import type { Claimed, TurnResult } from './admission.js';
import type { Attempts } from './attempts.js';
import type { Checked } from './check-claims.js';
import { takeBack } from './take-back.js';

export interface YieldParts {
  readonly hands: Pick<Hands, 'remove'>;
  readonly attempts: Pick<Attempts, 'end'>;
  readonly meter: Pick<Meter, 'claimRace'>;
}

/** Never rejects. A container that could not be removed is left to the next request for its run, or to a sweep. */
export async function yieldClaim(
  { spec, containerId }: Claimed,
  checked: Exclude<Checked, { kind: 'good' }>,
  { hands, attempts, meter }: YieldParts,
): Promise<TurnResult> {
  const lookAgain = { kind: 'again', why: 'changed' } as const;
  try {
    if (checked.kind === 'look_again') return lookAgain;
    const { result } = checked;
    if (result.kind === 'again' && result.why === 'lost_race') meter.claimRace();
    const taken = await takeBack(containerId, hands);
    if (taken.kind === 'look_again' || taken.kind === 'runs') return lookAgain;
    if (taken.kind === 'taken_back') return result.kind === 'refused' ? { ...result, rolledBack: true } : result;
    const why = result.kind === 'refused' ? result.detail : 'the created container may not be started';
    return refuse('docker_unavailable', {
      detail: `${why}; and the runtime did not say whether it was removed: ${taken.detail}`,
      rolledBack: false,
    });
  } finally {
    attempts.end(spec.runId, { kind: 'look_again' });
  }
}
