/** The checks that query the Redis with the lock. */

import { askRedis } from '../lock/redis/facts.js';
import { passwordFrom } from '../lock/redis/password-file.js';
import { TABLE } from '../settings/table.js';
import { check, skipped, type Check } from './check.js';
import type { Installation } from './installation.js';
import * as judge from './judge-redis.js';
import { once } from './once.js';

export function checkRedis({ settings, clock }: Installation): readonly Check[] {
  const { redisUrl: url, redisPasswordFile, lockKey: key } = settings;
  if (url === null) {
    return [
      check('redis', async () => skipped('TUNEPLANE_REDIS_URL is not set: this gate assumes to be the only allocator')),
    ];
  }
  const password = redisPasswordFile === null ? null : passwordFrom(redisPasswordFile);
  const asked = once(() => askRedis({ url, password, key, clock }));
  return [
    check('redis', async () => judge.judgeRedis(await asked())),
    check('redis-role', async () => judge.judgeRole(await asked())),
    check('redis-eviction', async () => judge.judgeEviction(await asked())),
    check('redis-clock', async () => judge.judgeClock(await asked())),
    check('lock-key', async () => judge.judgeKey(await asked(), { key, standardKey: TABLE.lockKey.standard ?? '' })),
  ];
}
