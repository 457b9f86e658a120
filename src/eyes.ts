/** Opens the eyes, the observer and the reader of the kernel's log, as the settings say. */

import type { CardUuid } from './model/card.js';
import type { Books } from './model/ports/books.js';
import type { CardStore } from './model/ports/card-store.js';
import type { Eyes, Observer } from './model/ports/eyes.js';
import type { HeldUse, Meter } from './model/ports/meter.js';
import type { Clock, Log } from './model/ports/outside.js';
import type { XidStore } from './model/ports/xid-store.js';
import type { Snapshot } from './model/snapshot.js';
import { warnOfForeignClaims } from './observe/foreign-claims.js';
import { watchHeldUse } from './observe/held-use.js';
import { logChanges } from './observe/log-changes.js';
import { logRemarks } from './observe/log-remarks.js';
import { createObserver } from './observe/observer.js';
import { startJobMapping } from './observe/start-job-mapping.js';
import { readBootId } from './probe/kernel-log/boot-id.js';
import { createKernelLog, type KernelLog } from './probe/kernel-log/kernel-log.js';
import { createEyes } from './probe/look.js';
import { createNvidiaSmi } from './probe/nvidia-smi/nvidia-smi.js';
import type { Settings } from './settings/settings.js';

interface Around {
  readonly settings: Settings;
  readonly meter: Pick<Meter, 'xid' | 'kernelLogGap' | 'looked'>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface EyesAround extends Around {
  readonly books: Pick<Books, 'list'>;
  readonly cardStore: CardStore;
  readonly kernelLog: KernelLog;
  readonly failedStarts: () => ReadonlyMap<CardUuid, number>;
  /** Called with each finished look. */
  readonly looked: (snapshot: Snapshot) => void;
}

/** The eyes; each finished look is reported once. */
export function openEyes({ settings, meter, clock, log, looked, ...parts }: EyesAround): Eyes {
  const { localCheckGpuHealth: checkHealth, localCheckExternalGpus: checkExternal } = settings;
  const timeoutMs = settings.probeTimeoutS * 1000;
  const warnOfForeign = settings.redisUrl === null ? [warnOfForeignClaims(log)] : [];
  const tellLog = [logChanges(log), logRemarks(log), ...warnOfForeign];
  return createEyes({
    ...parts,
    smi: createNvidiaSmi({ program: settings.nvidiaSmi, timeoutMs, checkHealth, clock, log }),
    clock,
    log,
    checkExternal,
    checkHealth,
    limitMs: timeoutMs + 2000,
    onLook(snapshot) {
      meter.looked(snapshot);
      looked(snapshot);
      for (const tell of tellLog) tell(snapshot);
    },
  });
}

/** `held`: told of the use of the cards by principal, with each look. */
export function openObserver(eyes: Eyes, settings: Settings, clock: Clock, held: (use: HeldUse) => void): Observer {
  const heldUse = watchHeldUse();
  const rules = {
    memoryBusyMib: settings.memoryBusyMib,
    configuredCount: settings.localGpuCount,
    checkExternal: settings.localCheckExternalGpus,
    checkHealth: settings.localCheckGpuHealth,
    clusterProfile: settings.clusterProfile,
    excludeCards: settings.excludeCards,
  };
  return createObserver(eyes, rules, settings.scrapeMaxAgeMs, (occupancy) =>
    held(heldUse(occupancy, clock.monotonic())),
  );
}

/**
 * `TUNEPLANE_KERNEL_LOG`, `TUNEPLANE_XID_FATAL`. An unreadable log is reported by each look, and does not prevent a start.
 */
export function openKernelLog({ settings, meter, clock, log }: Around, store: XidStore): KernelLog {
  return createKernelLog({
    path: settings.kernelLog === 'off' ? null : settings.kernelLog,
    fatal: settings.xidFatal,
    bootId: readBootId(),
    store,
    onXid: (uuid, code) => {
      if (uuid !== null) meter.xid(uuid, code);
    },
    onGap: () => meter.kernelLogGap(),
    clock,
    log,
  });
}

/** `TUNEPLANE_JOB_MAPPING_DIR`; without it there is nothing to keep. */
export function openJobMapping(
  { settings, clock, log }: Pick<Around, 'settings' | 'clock' | 'log'>,
  observer: Observer,
): ReturnType<typeof startJobMapping> {
  const folder = settings.jobMappingDir;
  if (folder === null) return { changed: () => undefined, stop: () => undefined };
  return startJobMapping({ folder, observer, clock, log });
}
