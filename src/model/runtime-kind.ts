/**
 * What starts the jobs: Docker, or this process itself. It decides what a request may contain and where claims are recorded.
 */

export const RUNTIME_KINDS = ['docker', 'process'] as const;
export type RuntimeKind = (typeof RUNTIME_KINDS)[number];
