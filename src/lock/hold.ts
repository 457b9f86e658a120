/** A lease that is kept up until it is given back, or lost. */

import type { Hold } from '../model/ports/lock.js';
import type { Clock } from '../model/ports/outside.js';
import { elapsedSince, type Moment, momentOf } from '../time/elapsed.js';
import type { LockCommands } from './redis/commands.js';

export interface HoldParts {
  readonly commands: LockCommands;
  readonly token: string;
  readonly leaseMs: number;
  /** From before the command was sent that took the lock. */
  readonly takenAt: Moment;
  readonly clock: Clock;
  /** Told once, when the lease is lost, with the reason. */
  onLost(why: string): void;
  /** Told once, when it was given back. */
  onReleased(answer: { readonly othersWait: boolean }): void;
  /** For a token whose fate Redis did not tell. */
  leave(token: string): Promise<void>;
}

/** The lease ends a little early for us, so that we stop before another can begin. */
export function usableLeaseMs(leaseMs: number): number {
  return leaseMs - Math.max(50, leaseMs * 0.02);
}

/** How often we look at our own clocks; a timer alone would not notice that the machine was suspended. */
const CHECK_TIME_MS = 1000;

/**
 * A lease that is kept up: renewed every third of it and on each new connection. Redis' word that it is not ours ends it at
 * once; silence is borne until the lease ends by our own clocks. Never taken again by itself.
 */
export function holdLease(parts: HoldParts): Hold {
  const { commands, token, leaseMs, clock } = parts;
  const lost = new AbortController();
  const renewEveryMs = leaseMs / 3;
  let from = parts.takenAt;
  let over = false;
  let callOffRenewal = renewIn(renewEveryMs);
  let callOffCheck = clock.after(untilNextCheck(), checkTime);
  const unhear = commands.onReady(() => void renew());

  function remainingMs(): number {
    return usableLeaseMs(leaseMs) - elapsedSince(from, clock);
  }

  function untilNextCheck(): number {
    return Math.max(1, Math.min(CHECK_TIME_MS, remainingMs()));
  }

  function checkTime(): void {
    if (endedByTime()) return;
    callOffCheck = clock.after(untilNextCheck(), checkTime);
  }

  function endedByTime(): boolean {
    if (over) return true;
    if (remainingMs() > 0) return false;
    lose('its lease ended before it could be renewed');
    // A renewal that was sent may still be carried out, and would hold the key for nobody.
    void parts.leave(token);
    return true;
  }

  async function renew(): Promise<boolean> {
    if (endedByTime()) return false;
    const sentAt = momentOf(clock);
    const asked = await commands.renew(token, leaseMs);
    if (endedByTime()) return false;
    if (asked.kind === 'failed') return false;
    if (!asked.value) {
      lose('Redis says that it is not ours any more');
      return false;
    }
    if (sentAt.monotonic > from.monotonic) from = sentAt;
    return true;
  }

  function renewIn(ms: number): () => void {
    return clock.after(ms, () => void renewAgain());
  }

  async function renewAgain(): Promise<void> {
    const renewed = await renew();
    if (!over) callOffRenewal = renewIn(renewed ? renewEveryMs : Math.min(CHECK_TIME_MS, renewEveryMs));
  }

  function lose(why: string): void {
    finish();
    lost.abort(new Error(`the lock was lost: ${why}`));
    parts.onLost(why);
  }

  function finish(): void {
    over = true;
    callOffRenewal();
    callOffCheck();
    unhear();
  }

  return {
    confirm: renew,
    async release() {
      if (over) return;
      finish();
      const asked = await commands.release(token);
      if (asked.kind === 'failed') void parts.leave(token);
      else if (!asked.value.wasOurs) parts.onLost('it was gone when it was given back');
      parts.onReleased({ othersWait: asked.kind === 'answered' && asked.value.othersWait });
    },
    lost: lost.signal,
  };
}
