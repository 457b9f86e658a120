/** The line of runs that wait for cards. */

import type { CardIndex, CardUuid } from './card.js';

/** A run's place in line. It lasts as long as requests for the run keep coming. */
export interface Place {
  readonly runId: string;
  /** Hash of the request, to recognize another request under the same run id. */
  readonly specSha256: string;
  readonly count: number;
  /** Who asked for it. */
  readonly principal: string;
  readonly image: string;
  readonly labels: Readonly<Record<string, string>>;
  /** ISO 8601, UTC. Determines the order of the line. */
  readonly since: string;
  /** By the monotonic clock, when the place was read. */
  readonly waitedMs: number;
  /** A run whose image is still being pulled blocks no cards. */
  readonly imageHere: boolean;
}

/** A place in the form that is stored across a restart. */
export type KeptPlace = Omit<Place, 'waitedMs'>;

/** A run that wants cards of one look, in the order of the line. */
export interface Wanted extends Pick<Place, 'runId' | 'count' | 'waitedMs' | 'imageHere'> {
  /** Whether its request is being decided now. Cards for a place without a request are only kept for it. */
  readonly asks: boolean;
}

/** The cards reserved for the run that has waited too long. */
export interface Reservation {
  readonly runId: string;
  readonly count: number;
  readonly waitedMs: number;
  /** Free and reserved, fewer than `count`: otherwise the run would get them. */
  readonly cards: readonly { readonly index: CardIndex | null; readonly uuid: CardUuid | null }[];
}

/** The line in the form that the HTTP endpoints show, for one look. */
export interface LineView {
  /** Longest wait first: the n-th has position n. */
  readonly places: readonly Place[];
  readonly reservation: Reservation | null;
}
