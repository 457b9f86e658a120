import type { JobSpec, Refusal } from '../model/admission.js';
import type { TakenAway } from '../model/ports/line.js';
import { refuse } from '../model/refuse.js';

/** The answer to a request whose place in line was taken away while it waited. */
export function takenAway(why: TakenAway, { runId }: JobSpec): Refusal {
  switch (why) {
    case 'stopped':
      return refuse('stopped', {
        detail: `${runId} was stopped before it started; post it again to take a new place in line`,
      });
    case 'replaced':
      return refuse('run_id_reused', {
        detail: `a later request of yours under the run_id ${runId} replaced this one`,
      });
    default:
      return why satisfies never;
  }
}
