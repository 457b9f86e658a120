/**
 * What every connection of ours to Redis has, whoever opens it. Measured on ioredis 6.0.0: with its defaults a command waits
 * for ever in a black hole, and they queue without bound.
 */
export function commonOptions(connectionName: string, password: string | null) {
  return {
    ...(password === null ? {} : { password }),
    connectionName,
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
  } as const;
}
