/** Makes sure the image is present before the request waits for the lock. */

import type { Decision, JobSpec } from '../model/admission.js';
import type { Hands } from '../model/ports/hands.js';
import type { Meter } from '../model/ports/meter.js';
import type { Clock } from '../model/ports/outside.js';
import { refuse } from '../model/refuse.js';

/**
 * Null when the image is present, else the decision. `waitMs` is how long a request waits for a pull; the pull itself goes
 * on.
 */
export async function readyImage(
  spec: JobSpec,
  {
    hands,
    clock,
    meter,
  }: { readonly hands: Pick<Hands, 'ensureImage'>; readonly clock: Clock; readonly meter: Pick<Meter, 'phase'> },
  waitMs: number,
): Promise<Decision | null> {
  const began = clock.monotonic();
  const name = spec.container.image;
  const image = await hands.ensureImage(name, waitMs);
  meter.phase('pull', (clock.monotonic() - began) / 1000);
  switch (image.kind) {
    case 'present':
      return null;
    case 'pulling':
      return {
        kind: 'wait',
        requested: spec.count,
        free: 0,
        retryAfterSeconds: 5,
        explain: `image ${name} is being pulled; cards are picked once it is here`,
        reasons: [{ code: 'image_pulling', cards: [] }],
      };
    case 'not_found':
      return refuse('image_not_found', { detail: `there is no image ${name}`, daemonMessage: image.daemonMessage });
    case 'failed':
      return refuse('image_pull_failed', {
        detail: `image ${name} could not be pulled`,
        daemonMessage: image.daemonMessage,
      });
    case 'refused':
      return refuse('policy_denied', {
        detail: `/container/image: ${image.detail}`,
        errors: [{ pointer: '/container/image', detail: image.detail }],
      });
    case 'unavailable':
      return refuse('docker_unavailable', {
        detail: `the runtime could not be asked for image ${name}: ${image.detail}`,
      });
    default:
      return image satisfies never;
  }
}
