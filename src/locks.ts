/** Opens the lock that the settings name. */

import { localLock } from './lock/local-lock.js';
import { passwordFrom } from './lock/redis/password-file.js';
import type { Lock } from './model/ports/lock.js';
import type { Meter } from './model/ports/meter.js';
import type { Clock, Log } from './model/ports/outside.js';
import type { Settings } from './settings/settings.js';

/** The lock: in Redis where that is set, else in this process only, which does not load the Redis client. */
export async function openLock(
  settings: Settings,
  clock: Clock,
  log: Log,
  meter: Pick<Meter, 'lockLost'>,
): Promise<Lock & { close(): Promise<void> }> {
  if (settings.redisUrl === null) return Object.assign(localLock(), { close: async () => {} });
  const { createRedisLock } = await import('./lock/lease.js');
  return createRedisLock({
    url: settings.redisUrl,
    password: settings.redisPasswordFile === null ? null : passwordFrom(settings.redisPasswordFile),
    key: settings.lockKey,
    leaseMs: settings.lockLeaseMs,
    clock,
    log,
    meter,
  });
}
