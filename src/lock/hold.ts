/** A lease that is renewed until it is released or lost. */

import type { Hold } from '../model/ports/lock.js';
import type { Clock } from '../model/ports/outside.js';
import { elapsedSince, type Moment, momentOf } from '../time/elapsed.js';
import type { LockCommands } from './redis/commands.js';

export interface HoldParts {
  readonly commands: LockCommands;
  readonly token: string;
  readonly leaseMs: number;
  /** A moment before the command that took the lock was sent. */
  readonly takenAt: Moment;
  readonly clock: Clock;
  /** Called once, when the lease is lost, with the reason. */
  onLost(why: string): void;
  /** Called once, when the lease was released. */
  onReleased(answer: { readonly othersWait: boolean }): void;
  /** Hands over a token that Redis may still hold, because a command got no answer. */
  leave(token: string): Promise<void>;
}

/** We treat the lease as shorter than it is, so that we stop before another holder can begin. */
export function usableLeaseMs(leaseMs: number): number {
  return leaseMs - Math.max(50, leaseMs * 0.02);
}

/** How often we check our own clocks; a timer alone would not notice that the machine was suspended. */
const CHECK_TIME_MS = 1000;

/**
 * A renewed lease: once every third of its length and on each new connection. Redis' answer that it is not ours ends it at
 * once; missing answers are tolerated until the lease ends by our own clocks. It is never retaken automatically.
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
    // A renewal in flight may still be executed, and would keep the key although nobody holds the lock.
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
      lose('Redis answers that it is no longer ours');
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
      else if (!asked.value.wasOurs) parts.onLost('it was already gone when it was released');
      parts.onReleased({ othersWait: asked.kind === 'answered' && asked.value.othersWait });
    },
    lost: lost.signal,
  };
}
