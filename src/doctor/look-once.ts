import { SILENT } from '../log/silent-log.js';
import type { JudgedCard } from '../model/occupancy.js';
import type { Clock } from '../model/ports/outside.js';
import type { Snapshot } from '../model/snapshot.js';
import { judge } from '../occupancy/judge.js';
import { remember } from '../probe/inventory.js';
import { readBootId } from '../probe/kernel-log/boot-id.js';
import { createNvidiaSmi } from '../probe/nvidia-smi/nvidia-smi.js';
import type { Settings } from '../settings/settings.js';
import { readCardsSeen, readExclusions, readXids } from '../state/read-cards-seen.js';
import { defaultStateFolders } from '../state/usable-folder.js';

/**
 * The cards by one look of `nvidia-smi` and what a gate has kept of them, without a gate. Who holds them is not asked. Changes
 * nothing.
 */
export async function lookOnce(
  settings: Settings,
  env: Readonly<Record<string, string | undefined>>,
  clock: Clock,
): Promise<readonly JudgedCard[]> {
  const checkHealth = settings.localCheckGpuHealth;
  const timeoutMs = settings.probeTimeoutS * 1000;
  const smi = createNvidiaSmi({ program: settings.nvidiaSmi, timeoutMs, checkHealth, clock, log: SILENT });
  const folders = settings.stateDir === null ? defaultStateFolders(env) : [settings.stateDir];
  const startedAtMs = clock.now();
  const [{ gpus, health }, before, exclusions, xids] = await Promise.all([
    smi.gpus(),
    readCardsSeen(folders),
    readExclusions(folders, startedAtMs),
    readXids(folders, readBootId()),
  ]);
  const look: Snapshot = {
    startedAtMs,
    endedAtMs: clock.now(),
    gpus,
    health,
    processes: { kind: 'off' },
    docker: { kind: 'seen', value: { containers: [] }, tookMs: 0 },
    kernel: { kind: 'off' },
    xids,
    links: null,
    remembered: remember(before, gpus),
    exclusions,
  };
  return judge(look, {
    memoryBusyMib: settings.memoryBusyMib,
    configuredCount: settings.localGpuCount,
    checkExternal: false,
    checkHealth,
    clusterProfile: null,
    excludeCards: settings.excludeCards,
  }).cards;
}
