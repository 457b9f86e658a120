/** What is written on a container besides its spec: who admitted it, when, for which caller. */

import type { Grant, GrantedCard, Principal } from '../model/admission.js';
import type { Clock } from '../model/ports/outside.js';

export type NewGrant = (cards: readonly GrantedCard[], principal: Principal) => Grant;

/** No two grants share a time stamp, so a time stamp identifies one attempt. */
export function createGrants(clock: Pick<Clock, 'now'>, gate: { instanceId: string; life: string }): NewGrant {
  let lastMs = 0;
  return (cards, principal) => {
    lastMs = Math.max(lastMs + 1, clock.now());
    const admittedAt = new Date(lastMs).toISOString();
    return {
      cards,
      admittedBy: gate.instanceId,
      life: gate.life,
      admittedAt,
      principal: principal.name,
      delegate: principal.delegate ?? '',
    };
  };
}
