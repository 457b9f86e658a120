/** What exists of a run, whoever created it. */

import type { JobSpec, Refusal } from '../../model/admission.js';
import type { Books } from '../../model/ports/books.js';
import type { CreatedSince } from '../../model/ports/created-since.js';
import { refuse } from '../../model/refuse.js';
import type { SeenContainer } from '../../model/snapshot.js';
import type { Standpoint } from '../../occupancy/left-behind.js';
import { existingMeaning, type Existing } from './existing-meaning.js';
import { withoutCopies } from './existing-run.js';
import type { RecentRuns } from './recent-runs.js';

export interface LookUpParts {
  readonly books: Books;
  readonly createdSince: CreatedSince;
  readonly standpoint: Standpoint;
  readonly recentRuns: Pick<RecentRuns, 'removedRun'>;
}

/** Looks by the run's label and by its name. Null where nothing exists; a refusal where that cannot be found out. */
export async function lookUp(spec: JobSpec, parts: LookUpParts): Promise<Existing | null> {
  const found = await parts.books.findRun(spec.runId);
  if (found.kind === 'blind') return cannotTell(found.detail);
  return meaningOf(await withoutCopies(found.value, parts.books), spec, parts);
}

/** By the label only, which costs one list: the containers of this run, without copies. */
export async function findContainers(runId: string, books: Books): Promise<readonly SeenContainer[] | Refusal> {
  const found = await books.findLabelled(runId);
  return found.kind === 'blind' ? cannotTell(found.detail) : withoutCopies(found.value, books);
}

export function meaningOf(
  containers: readonly SeenContainer[],
  spec: JobSpec,
  { createdSince, standpoint, recentRuns }: Omit<LookUpParts, 'books'>,
): Existing | null {
  createdSince.see(containers, false);
  return existingMeaning(containers, spec, standpoint, recentRuns.removedRun(spec.runId));
}

function cannotTell(detail: string): Refusal {
  return refuse('docker_unavailable', { detail: `the runtime could not be asked for this run: ${detail}` });
}
