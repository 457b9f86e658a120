/** Every path in the settings that no job may mount. */

import type { Settings } from './settings.js';

/** As written: a relative path starts at the gate's working directory. */
export function ownPaths(settings: Settings): readonly string[] {
  const files = [
    settings.tokensFile,
    settings.policyFile,
    settings.auditFile,
    settings.redisPasswordFile,
    settings.webConfigFile,
    settings.dockerConfig,
    settings.stateDir,
    settings.claimsDir,
    // Who may write there says whose job a card's metrics are counted for.
    settings.jobMappingDir,
  ];
  const sockets = [...settings.listen, ...(settings.metricsListen ?? [])];
  // A bare name is looked up on PATH, where jobs have no business either way; `off` is no file.
  const mayBeNone = [settings.nvidiaSmi, settings.kernelLog].filter((path) => path.includes('/'));
  return [
    ...files.filter((path) => path !== null),
    ...sockets.flatMap((address) => (address.kind === 'unix' ? [address.path] : [])),
    ...mayBeNone,
  ];
}
