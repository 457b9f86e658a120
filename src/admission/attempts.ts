/** What this process is at: each run whose container it creates, checks or starts. Nobody else's hands, nor a sweep's, touch those. */

import type { Grant, Refusal } from '../model/admission.js';
import { isOf, LABEL } from '../model/labels.js';
import type { ContainerState, SeenContainer } from '../model/snapshot.js';

/** How an attempt ended. */
export type Ended =
  | { readonly kind: 'running'; readonly state: ContainerState }
  /** Nothing of it stands, or somebody else had a hand in it: the books know. */
  | { readonly kind: 'look_again' }
  | Refusal;

export interface Attempts {
  /** From right before the create on. One at a time for each run. */
  begin(runId: string, grant: Grant): void;
  end(runId: string, how: Ended): void;
  /** How the attempt at this run will have ended; null where there is none. Never rejects. */
  of(runId: string): Promise<Ended> | null;
  /** Whether a container is the one that an attempt here is at, also before its id is known. */
  isAt(container: SeenContainer): boolean;
  /** Settles when there is none. */
  idle(): Promise<void>;
}

interface Attempt {
  readonly grant: Grant;
  readonly ended: Promise<Ended>;
  readonly end: (how: Ended) => void;
}

export function createAttempts(): Attempts {
  const attempts = new Map<string, Attempt>();
  return {
    begin(runId, grant) {
      if (attempts.has(runId)) throw new Error(`there is an attempt at the run ${runId} already`);
      let end: Attempt['end'] | undefined;
      const ended = new Promise<Ended>((resolve) => (end = resolve));
      attempts.set(runId, { grant, ended, end: (how) => end?.(how) });
    },
    end(runId, how) {
      attempts.get(runId)?.end(how);
      attempts.delete(runId);
    },
    of: (runId) => attempts.get(runId)?.ended ?? null,
    isAt({ labels }) {
      const attempt = attempts.get(labels[LABEL.runId] ?? '');
      return attempt !== undefined && isOf(attempt.grant, labels);
    },
    async idle() {
      while (attempts.size > 0) await Promise.all(Array.from(attempts.values(), ({ ended }) => ended));
    },
  };
}
