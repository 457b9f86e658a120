/** Every path in the settings that no job may mount. */

import type { Settings } from './settings.js';

/** As written: a relative path starts at the gate's working directory. */
export function ownPaths(settings: Settings): readonly string[] {
  const {
    tokensFile,
    policyFile,
    auditFile,
    redisPasswordFile,
    webConfigFile,
    dockerConfig,
    stateDir,
    claimsDir,
    nvidiaSmi,
  } = settings;
  const files = [
    tokensFile,
    policyFile,
    auditFile,
    redisPasswordFile,
    webConfigFile,
    dockerConfig,
    stateDir,
    claimsDir,
  ];
  const sockets = [...settings.listen, ...(settings.metricsListen ?? [])];
  return [
    ...files.filter((path) => path !== null),
    ...sockets.flatMap((address) => (address.kind === 'unix' ? [address.path] : [])),
    // A bare name is looked up on PATH, where jobs have no business either way.
    ...(nvidiaSmi.includes('/') ? [nvidiaSmi] : []),
  ];
}
