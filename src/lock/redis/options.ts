/**
 * The options of each of our connections to Redis. Measured on ioredis 6.0.0: with its defaults a command waits for ever
 * when packets are dropped silently, and commands queue without bound.
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
