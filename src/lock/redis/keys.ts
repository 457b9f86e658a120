/**
 * The key of a lock's waiters: beside the lock's key, and in a cluster in the same slot, since a script may access one slot
 * only. The slot is determined by the text between the first braces of a key, else by the whole key
 * (https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/#hash-tags). The lock's own key is the one that
 * other allocators use.
 */
export function waitersKey(lockKey: string): string {
  const open = lockKey.indexOf('{');
  const hasTag = open !== -1 && lockKey.indexOf('}', open + 1) > open + 1;
  // A key with a brace but without a tag cannot become a tag itself; that only matters in a cluster, where readiness reports
  // it.
  return hasTag || /[{}]/.test(lockKey) ? `${lockKey}:waiting` : `{${lockKey}}:waiting`;
}
