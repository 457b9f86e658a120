/**
 * Where the waiters of a lock are kept: beside its key, and in a cluster in the same slot, since a script may touch one slot only. A slot
 * is told by what stands between the first braces of a key, else by the whole key
 * (https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/#hash-tags). The lock's own key is what other allocators call it.
 */
export function waitersKey(lockKey: string): string {
  const open = lockKey.indexOf('{');
  const hasTag = open !== -1 && lockKey.indexOf('}', open + 1) > open + 1;
  // A key with a brace and no tag cannot be a tag itself; only a cluster minds, and then readiness says so.
  return hasTag || /[{}]/.test(lockKey) ? `${lockKey}:waiting` : `{${lockKey}}:waiting`;
}
