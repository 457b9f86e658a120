import type { Decision, JobSpec } from '../model/admission.js';
import { containerName } from '../model/labels.js';
import { refuse } from '../model/refuse.js';
import type { Again } from './admission.js';

/** The answer to a request that started over too often. */
export function outOfTries(spec: JobSpec, why: Again['why']): Decision {
  switch (why) {
    case 'lease_lost':
      return refuse('lock_unavailable', { detail: 'the lock was lost again and again before anything was created' });
    case 'name_taken':
      return refuse('create_failed', {
        detail: `the name ${containerName(spec.runId)} is taken, and no list shows by what`,
        // An earlier request for this run may have created it, without ever getting an answer.
        rolledBack: false,
      });
    case 'gone':
      return refuse('create_failed', {
        detail: 'each created container was missing from the list that followed; nothing was started',
        rolledBack: true,
      });
    case 'image_gone':
      return refuse('image_not_found', {
        detail: `the image ${spec.container.image} is removed again and again before a container can be created from it`,
      });
    case 'changed':
      return {
        kind: 'wait',
        requested: spec.count,
        free: 0,
        retryAfterSeconds: 1,
        explain: `the container of the run ${spec.runId} changed at each attempt; ask again in a second`,
        reasons: [{ code: 'lost_race', cards: [] }],
      };
    case 'lost_race':
      return {
        kind: 'wait',
        requested: spec.count,
        free: 0,
        retryAfterSeconds: 1,
        explain: 'another claim was made on the same cards at the same time, and both yielded; ask again in a second',
        reasons: [{ code: 'lost_race', cards: [] }],
      };
    default:
      return why satisfies never;
  }
}
