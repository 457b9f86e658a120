import { createRedisLock, type RedisLock, type RedisLockParts } from '../../src/lock/lease.js';
import { countingMeter, pushableClock, recordingLog } from './outside.js';

export const KEY = 'gpu-alloc:leader';

/** Creates locks on one Redis, each with its own connection like separate processes, and closes them all. */
export function lockMaker(url: () => string) {
  const made: RedisLock[] = [];
  return {
    make(over: Partial<RedisLockParts> = {}) {
      const clock = pushableClock();
      const log = recordingLog();
      const meter = countingMeter();
      const lock = createRedisLock({
        url: url(),
        password: null,
        key: KEY,
        leaseMs: 120_000,
        clock,
        log,
        meter,
        ...over,
      });
      made.push(lock);
      return { lock, clock, log, meter };
    },
    async closeAll() {
      await Promise.all(made.splice(0).map((lock) => lock.close()));
    },
  };
}
