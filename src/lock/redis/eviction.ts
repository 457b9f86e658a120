/**
 * Reads `INFO memory`: a Redis that evicts keys when it is full may evict locks, which all have a time to live. A sentence
 * to warn with, or null where nothing is evicted or the answer says nothing about it.
 */
export function explainEviction(info: string): string | null {
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
  const limit = Number(/^maxmemory:(\d+)/m.exec(info)?.[1] ?? 0);
  if (policy === undefined || policy === 'noeviction' || limit === 0) return null;
  return `Redis may evict the lock when it is full (maxmemory-policy ${policy}); set it to noeviction`;
}
