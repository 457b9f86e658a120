/**
 * The Lua scripts, which Redis executes atomically. On the wire the lock keeps the older agent's format: a key that holds a
 * token, has a time to live and is set only if absent. Each script compares the token, so nobody ever changes another
 * holder's lock. Beside the key lies a sorted set of waiters: the token of each process that did not get the lock, and until
 * when (Redis' clock, ms) it counts.
 */

/**
 * Takes the lock, or joins the waiters if another holds it.
 *
 * A command sent to a stopped Redis is executed when Redis resumes, and would take the key for nobody. So each carries the
 * moment (Redis' clock) after which it must not be executed.
 *
 * KEYS[1] the lock, KEYS[2] the waiters.
 * ARGV[1] token, ARGV[2] lease in ms, ARGV[3] deadline for the execution (Redis' clock, ms), ARGV[4] how long a waiter
 * counts, ms.
 * Answers {1 | 0 | -1, Redis' clock in ms, the holder's value, the key's time to live in ms}:
 * 1 it is ours now, or was already; 0 another holds it; -1 too late, nothing was done.
 */
export const ACQUIRE = `
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
if now > tonumber(ARGV[3]) then return {-1, now, '', 0} end
local holder = redis.call('GET', KEYS[1])
if holder == ARGV[1] then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
elseif holder then
  redis.call('ZADD', KEYS[2], now + ARGV[4], ARGV[1])
  redis.call('PEXPIRE', KEYS[2], ARGV[4])
  return {0, now, holder, redis.call('PTTL', KEYS[1])}
else
  redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])
end
redis.call('ZREM', KEYS[2], ARGV[1])
return {1, now, ARGV[1], tonumber(ARGV[2])}
`;

/**
 * Renews the lease to its full length. Never re-creates a key that is gone.
 *
 * KEYS[1] the lock. ARGV[1] token, ARGV[2] lease in ms.
 * Answers 1 when it is ours, 0 when it is not.
 */
export const RENEW = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
`;

/**
 * Releases the lock if it is ours, removes us from the waiters, and tells whether others wait. A waiter with an end further
 * ahead than possible was written before the clock was set back; it does not count.
 *
 * KEYS[1] the lock, KEYS[2] the waiters. ARGV[1] token, ARGV[2] how long a waiter counts, ms.
 * Answers {1 when it was ours | 0, how many others wait}.
 */
export const RELEASE = `
local ours = 0
if redis.call('GET', KEYS[1]) == ARGV[1] then ours = redis.call('DEL', KEYS[1]) end
redis.call('ZREM', KEYS[2], ARGV[1])
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
return {ours, redis.call('ZCOUNT', KEYS[2], now, now + ARGV[2])}
`;

/**
 * Every command of the scripts above, in forms that change nothing: so an ACL without scripts or without a key, a cluster
 * with the two keys in different slots, a replica and a full Redis each refuse now what they would refuse to the next
 * admission.
 *
 * KEYS[1] the lock, KEYS[2] the waiters. ARGV[1] a token that nobody has, ARGV[2] a time in ms.
 * Answers 1. SET uses XX on an absent key and NX on an existing one, so it never writes.
 */
export const TRY_OUT = `
redis.call('TIME')
if redis.call('GET', KEYS[1]) then
  redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])
else
  redis.call('SET', KEYS[1], ARGV[1], 'XX', 'PX', ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  redis.call('DEL', KEYS[1])
end
redis.call('PTTL', KEYS[1])
redis.call('ZADD', KEYS[2], 'XX', 0, ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('ZCOUNT', KEYS[2], 0, 0)
return 1
`;
