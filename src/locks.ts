/** Which lock the settings name, opened. */

import { localLock } from './lock/local-lock.js';
import { passwordFrom } from './lock/redis/password-file.js';
import type { Lock } from './model/ports/lock.js';
import type { Meter } from './model/ports/meter.js';
import type { Clock, Log } from './model/ports/outside.js';
import type { Settings } from './settings/settings.js';

/** The lock: Redis where it is set, else that of one process alone, which is spared the client of Redis. */
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
