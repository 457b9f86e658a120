/** The checks of the machine itself. */

import { readFile } from 'node:fs/promises';
import { createDockerClient } from '../docker/client.js';
import { askTime } from '../docker/engine-facts.js';
import type { GpusSeen, Probed } from '../model/snapshot.js';
import { whyUnreadable } from '../probe/kernel-log/read-lines.js';
import { check, skipped, type Check } from './check.js';
import type { Installation } from './installation.js';
import { judgeClock, judgeComputeMode, judgeKernelLog, judgeWsl } from './judge-system.js';

export function checkSystem(
  { settings, env, clock }: Installation,
  gpus: () => Promise<Probed<GpusSeen>>,
): readonly Check[] {
  const path = settings.kernelLog === 'off' ? null : settings.kernelLog;
  return [
    check('compute-mode', async () => judgeComputeMode(await gpus()), 2000 * settings.probeTimeoutS + 1000),
    check('kernel-log', async () => judgeKernelLog(path, path === null ? null : whyUnreadable(path))),
    check('wsl', async () => judgeWsl(await readFile('/proc/version', 'utf8').catch(() => null))),
    check('clock', async () => {
      const found = settings.runtime === 'docker' ? createDockerClient({ ...env }) : null;
      if (found?.kind !== 'found') return skipped('there is no Docker to compare with');
      const before = clock.now();
      const engine = await askTime(found.docker);
      // In the middle of the question, as far as can be told.
      return judgeClock(engine.kind === 'seen' ? engine.value - (before + clock.now()) / 2 : null);
    }),
  ];
}
