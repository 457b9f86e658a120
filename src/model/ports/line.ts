/** The line of runs that wait for cards, for admissions and the HTTP endpoints. */

import type { Decision, JobSpec, Refusal } from '../admission.js';
import type { KeptPlace, Place } from '../line.js';

/** Why a place was removed although requests for it are waiting. */
export type TakenAway = 'stopped' | 'replaced';

export interface Line {
  /**
   * A request for a run has arrived: its place, if it has one, does not lapse during the request. Refused if the place
   * belongs to another caller's different request.
   */
  arrive(spec: JobSpec, principal: string): Asking | Refusal;
  /** All waiting runs, longest wait first. */
  places(): readonly Place[];
  place(runId: string): (Place & { readonly position: number }) | null;
  /** Ends a place, and with it the requests that wait for its turn; false where there is none. */
  takeAway(runId: string, why: TakenAway): boolean;
}

/** One request for a run, while it is being decided or held. */
export interface Asking {
  /** Gives the run a place if it has none yet. Refused when the line is full. */
  take(): Refusal | null;
  /** The image of the run is present. */
  imageHere(): void;
  /** Set once the place was removed during this request. */
  readonly takenAway: TakenAway | null;
  /** The request has its decision: the place ends, or stays until it lapses. */
  done(decision: Decision): void;
}

/** Stores the places across a restart. */
export interface PlaceStore {
  /** The places stored by an earlier life of this gate. */
  readonly kept: readonly KeptPlace[];
  /** Replaces the stored places. Never throws; a failing disk loses at most the order across a restart. */
  keep(places: readonly KeptPlace[]): void;
}

/** Reports when a job has ended. May miss an end without notice. */
export interface Endings {
  /** `id` is the container's. */
  onEnd(listener: (id: string) => void): void;
}
