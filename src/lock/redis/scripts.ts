/**
 * What Redis is asked to do in one piece. On the wire the lock stays what the older agent speaks: a key that holds a token
 * and has a time to live, set only if absent. Each script compares the token, so nobody ever touches another's lock.
 * Beside the key lies a sorted set of waiters: whose token was kept out, and until when (Redis' clock, ms) that counts.
 */

/**
 * Takes the lock, or joins the waiters when kept out.
 *
 * A command sent into a stopped Redis runs when it wakes up, and would hold the key for nobody. So each carries the moment
 * (Redis' clock) after which it must not be carried out any more.
 *
 * KEYS[1] the lock, KEYS[2] the waiters.
 * ARGV[1] token, ARGV[2] lease in ms, ARGV[3] carry out until (Redis' clock, ms), ARGV[4] how long a waiter counts, ms.
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
 * Makes the lease whole again. Never re-creates a key that is gone.
 *
 * KEYS[1] the lock. ARGV[1] token, ARGV[2] lease in ms.
 * Answers 1 when it is ours, 0 when it is not.
 */
export const RENEW = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
`;

/**
 * Gives the lock back if it is ours, takes us off the waiters, and says whether others wait. A waiter whose end lies further
 * ahead than one can count comes from a clock that was set back; it counts for nothing.
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
