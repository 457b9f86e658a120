/**
 * The runs whose container this process is creating, checking or starting. Other requests and sweeps leave these containers
 * alone.
 */

import type { Grant, Refusal } from '../model/admission.js';
import { isOf, LABEL } from '../model/labels.js';
import type { ContainerState, SeenContainer } from '../model/snapshot.js';

/** How an attempt ended. */
export type Ended =
  | { readonly kind: 'running'; readonly state: ContainerState }
  /** The attempt left no container, or something else changed or started it: list to find out. */
  | { readonly kind: 'look_again' }
  | Refusal;

export interface Attempts {
  /** Called right before the create. One attempt per run at a time. */
  begin(runId: string, grant: Grant): void;
  end(runId: string, how: Ended): void;
  /** Resolves with how the current attempt at this run ends; null where there is none. Never rejects. */
  of(runId: string): Promise<Ended> | null;
  /** Whether a container belongs to a current attempt, even before its id is known. */
  isAt(container: SeenContainer): boolean;
  /** Settles when no attempt is in progress. */
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
