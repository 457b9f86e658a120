/** What no job is given, as this machine stands now. */

export interface OffLimits {
  /** Absolute paths: nothing that is, holds or lies in one of them is mounted. */
  readonly paths: readonly string[];
  /** Names of volumes. */
  readonly volumes: readonly string[];
}

/** Where it is not known nothing may be mounted: whatever is asked for could be one of them. `detail` says what is not known. */
export type OffLimitsAnswer =
  | ({ readonly kind: 'known' } & OffLimits)
  /** Whoever knows does not answer now. */
  | { readonly kind: 'unavailable'; readonly detail: string }
  /** Whoever was asked does not tell, and will not as things stand. */
  | { readonly kind: 'untold'; readonly detail: string };

/** Asks at each call; an answer that still holds may be given again. */
export type AskOffLimits = () => Promise<OffLimitsAnswer>;
