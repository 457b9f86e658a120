/** The line of runs that wait for cards, as admissions and faces use it. */

import type { Decision, JobSpec, Refusal } from '../admission.js';
import type { KeptPlace, Place } from '../line.js';

/** Why a place was taken away from those who ask for it. */
export type TakenAway = 'stopped';

export interface Line {
  /**
   * A request for a run has come: its place, if it has one, does not lapse while the request goes on. Refused where the place
   * belongs to another request of somebody else.
   */
  arrive(spec: JobSpec, principal: string): Asking | Refusal;
  /** Everybody in line, longest wait first. */
  places(): readonly Place[];
  place(runId: string): (Place & { readonly position: number }) | null;
  /** Ends a place, and with it the requests that wait for its turn; false where there is none. */
  takeAway(runId: string, why: TakenAway): boolean;
}

/** One request for a run, for as long as it is being decided or held. */
export interface Asking {
  /** Gives the run a place if it has none yet. Refused where the line is full. */
  take(): Refusal | null;
  /** The image of the run is here. */
  imageHere(): void;
  /** Set once the place was taken away under this request. */
  readonly takenAway: TakenAway | null;
  /** The request has its decision: the place ends, or stays until it lapses. */
  done(decision: Decision): void;
}

/** Where places are kept over a restart. */
export interface PlaceStore {
  /** What an earlier life of this gate kept. */
  readonly kept: readonly KeptPlace[];
  /** Replaces what is kept. Never throws; a disk that fails loses at most the order of a restart. */
  keep(places: readonly KeptPlace[]): void;
}

/** Tells when a job has ended. May miss an end, and then nobody is told. */
export interface Endings {
  /** `id` is the container's. */
  onEnd(listener: (id: string) => void): void;
}
