/** Everything on the machine that the settings name and that no job may have. */

import type { Settings } from './settings.js';

/** As they were written: a relative one starts where the gate was started. */
export function ownPaths(settings: Settings): readonly string[] {
  const { tokensFile, policyFile, auditFile, redisPasswordFile, dockerConfig, stateDir, claimsDir, nvidiaSmi } =
    settings;
  const files = [tokensFile, policyFile, auditFile, redisPasswordFile, dockerConfig, stateDir, claimsDir];
  const sockets = [...settings.listen, ...(settings.metricsListen ?? [])];
  return [
    ...files.filter((path) => path !== null),
    ...sockets.flatMap((address) => (address.kind === 'unix' ? [address.path] : [])),
    // A bare name is looked up on PATH, where jobs have no business either way.
    ...(nvidiaSmi.includes('/') ? [nvidiaSmi] : []),
  ];
}
