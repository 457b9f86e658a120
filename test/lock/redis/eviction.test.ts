import { expect, test } from 'vitest';
import { explainEviction } from '../../../src/lock/redis/eviction.js';
import { startRedis } from '../../support/services/redis.js';
import { lockMaker } from '../redis-locks.js';
import { until } from '../until.js';

test.each([
  ['keys that have an end', 'maxmemory:1048576\r\nmaxmemory_policy:volatile-lru\r\n', 'volatile-lru'],
  ['any key', 'maxmemory:1048576\r\nmaxmemory_policy:allkeys-lfu\r\n', 'allkeys-lfu'],
])('a Redis that evicts %s when full is warned of', (_says, info, policy) => {
  expect(explainEviction(info)).toContain(`(maxmemory-policy ${policy})`);
});

test.each([
  ['that refuses writes when full', 'maxmemory:1048576\r\nmaxmemory_policy:noeviction\r\n'],
  ['that has no limit', 'maxmemory:0\r\nmaxmemory_policy:allkeys-lru\r\n'],
  ['that does not tell', '# Memory\r\n'],
])('a Redis %s is not', (_says, info) => {
  expect(explainEviction(info)).toBeNull();
});

test('a real Redis that evicts is warned of once it is connected', async () => {
  const server = await startRedis(['--maxmemory', '64mb', '--maxmemory-policy', 'volatile-ttl']);
  const locks = lockMaker(() => server.url);
  const { log } = locks.make();
  await until('it is told', () => log.lines.some((line) => line.includes('(maxmemory-policy volatile-ttl)')));
  await locks.closeAll();
  await server.stop();
  expect(log.lines.join('\n')).toContain('warn: Redis may evict the lock when it is full');
});
