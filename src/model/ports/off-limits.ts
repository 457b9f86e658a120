/** What no job may mount, at the moment. */

export interface OffLimits {
  /** Absolute paths: a mount that equals, contains or lies in one of them is refused. */
  readonly paths: readonly string[];
  /** Names of volumes. */
  readonly volumes: readonly string[];
}

/** While unknown, nothing may be mounted: any mount could be one of these. `detail` says what is unknown. */
export type OffLimitsAnswer =
  | ({ readonly kind: 'known' } & OffLimits)
  /** The engine does not answer now. */
  | { readonly kind: 'unavailable'; readonly detail: string }
  /** The engine answered without this information, and will not supply it as configured. */
  | { readonly kind: 'untold'; readonly detail: string };

/** Asks at each call; a valid earlier answer may be reused. */
export type AskOffLimits = () => Promise<OffLimitsAnswer>;
