import { expect, test } from 'vitest';
import { holdLease, usableLeaseMs } from '../../src/lock/hold.js';
import type { LockCommands } from '../../src/lock/redis/commands.js';
import type { Clock } from '../../src/model/ports/outside.js';

const LEASE_MS = 60_000;

/** A clock that stands where the test has put it. */
function stoppedClock(): Clock & { ms: number } {
  const clock = { ms: 0, now: () => clock.ms, monotonic: () => clock.ms, after: () => () => {} };
  return clock;
}

test('a renewal counts from before it was sent, not from its answer', async () => {
  const clock = stoppedClock();
  let answersAfterMs = 900;
  const commands: LockCommands = {
    acquire: async () => ({ kind: 'answered', value: { kind: 'ours' } }),
    async renew() {
      clock.ms += answersAfterMs;
      return { kind: 'answered', value: true };
    },
    release: async () => ({ kind: 'answered', value: { wasOurs: true, othersWait: false } }),
    up: true,
    trouble: null,
    onReady: () => () => {},
    onAlive: () => () => {},
    close: async () => {},
  };
  const hold = holdLease({
    commands,
    token: 'ours',
    leaseMs: LEASE_MS,
    takenAt: { monotonic: 0, wall: 0 },
    clock,
    onLost: () => {},
    onReleased: () => {},
    leave: async () => {},
  });
  clock.ms = 20_000;
  expect(await hold.confirm()).toBe(true);
  answersAfterMs = 0;
  // By its answer some 900 ms of the lease would be left, and Redis may have ended it by now.
  clock.ms = 20_000 + usableLeaseMs(LEASE_MS);
  expect(await hold.confirm()).toBe(false);
  expect(hold.lost.aborted).toBe(true);
});
