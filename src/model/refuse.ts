import type { Refusal, RefusalCode } from './admission.js';

/** Builds a refusal; fills in `retryAfterSeconds` for the codes that ask to try again. */
export function refuse(code: RefusalCode, rest: Omit<Refusal, 'kind' | 'code'>): Refusal {
  return COME_AGAIN.has(code)
    ? { kind: 'refused', code, retryAfterSeconds: 5, ...rest }
    : { kind: 'refused', code, ...rest };
}

const COME_AGAIN: ReadonlySet<RefusalCode> = new Set([
  'docker_unavailable',
  'lock_unavailable',
  'draining',
  'busy',
] as const);
