/** Waits until another process's container of a run changes. */

import type { Decision } from '../model/admission.js';
import type { Clock } from '../model/ports/outside.js';
import { refuse } from '../model/refuse.js';
import type { SeenContainer } from '../model/snapshot.js';
import { standingOf } from '../occupancy/left-behind.js';
import { pause } from '../time/pause.js';
import type { Admission, Again } from './admission.js';
import type { LookUpParts } from './existing/look-up.js';

const ASK_EVERY_MS = 200;

/** `again` once it is gone, in another state, or abandoned by its creator; null where the request's time ran out first. */
export async function waitUntilChanged(
  container: SeenContainer,
  { spec, gone, untilMs }: Admission,
  { books, createdSince, standpoint, clock }: LookUpParts & { readonly clock: Clock },
): Promise<Decision | Again | null> {
  while (clock.monotonic() < untilMs && !gone.aborted) {
    const listed = await books.findRun(spec.runId);
    if (listed.kind === 'blind') {
      return refuse('docker_unavailable', { detail: `the run could not be asked for: ${listed.detail}` });
    }
    createdSince.see(listed.value, false);
    const still = listed.value.some(({ id, state }) => id === container.id && state === container.state);
    const waits = container.state !== 'created' || standingOf(container, standpoint) === 'of_another_gate';
    if (!still || !waits) return { kind: 'again', why: 'changed' };
    await pause(ASK_EVERY_MS, clock, gone);
  }
  return gone.aborted ? { kind: 'client_gone' } : null;
}
