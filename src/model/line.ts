/** The line of runs that wait for cards. */

import type { CardIndex, CardUuid } from './card.js';

/** A run's place in line. It stays for as long as somebody goes on asking for the run. */
export interface Place {
  readonly runId: string;
  /** Hash of the request, so that another request under the same run id is told apart. */
  readonly specSha256: string;
  readonly count: number;
  /** Who asked for it. */
  readonly principal: string;
  readonly image: string;
  readonly labels: Readonly<Record<string, string>>;
  /** ISO 8601, UTC. The line is ordered by it. */
  readonly since: string;
  /** By the monotonic clock, when the place was read. */
  readonly waitedMs: number;
  /** A run whose image is still being pulled takes no cards from anybody. */
  readonly imageHere: boolean;
}

/** A place as it is kept over a restart. */
export type KeptPlace = Omit<Place, 'waitedMs'>;

/** A run that wants cards out of one look, in the order of the line. */
export interface Wanted extends Pick<Place, 'runId' | 'count' | 'waitedMs' | 'imageHere'> {
  /** Whether its request is being decided now. What a silent place would get is only kept for it. */
  readonly asks: boolean;
}

/** The cards that are kept for the run that has waited too long. */
export interface Reservation {
  readonly runId: string;
  readonly count: number;
  readonly waitedMs: number;
  /** Free now and kept, fewer than `count`: else the run would get them. */
  readonly cards: readonly { readonly index: CardIndex | null; readonly uuid: CardUuid | null }[];
}

/** The line as faces show it, by one look. */
export interface LineView {
  /** Longest wait first: the n-th is at position n. */
  readonly places: readonly Place[];
  readonly reservation: Reservation | null;
}
