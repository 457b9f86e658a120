import type { JobSpec, Refusal } from '../model/admission.js';
import { refuse } from '../model/refuse.js';

/** The answer to a request whose run was removed from the line meanwhile. */
export function stopped({ runId }: JobSpec): Refusal {
  return refuse('stopped', {
    detail: `${runId} was stopped before it started; post it again to take a new place in line`,
  });
}
