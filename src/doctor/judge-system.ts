/** Findings about the machine itself: its kernel, its clock, and the compute mode of its cards. Pure: judges what was found. */

import type { GpusSeen, Probed } from '../model/snapshot.js';
import { ok, unknown, warning, type Verdict } from './check.js';

/** Whether the Xids in the kernel's log can be read. `failed`: why the log cannot be opened; null where it can. */
export function judgeKernelLog(path: string | null, failed: string | null): Verdict {
  if (path === null) return warning('TUNEPLANE_KERNEL_LOG is off: no Xid takes a card out', 'leave the setting out');
  if (failed === null) return ok(`${path} can be read: Xids take a card out`);
  return warning(
    `${path} cannot be read (${failed}): no Xid takes a card out`,
    'AmbientCapabilities=CAP_SYSLOG in the unit, without ProtectKernelLogs and PrivateDevices; in a container --device /dev/kmsg:/dev/kmsg:r --cap-add SYSLOG --user 0',
  );
}

/** Whether every card takes more than one process. */
export function judgeComputeMode(cards: Probed<GpusSeen>): Verdict {
  if (cards.kind === 'blind') return unknown('nvidia-smi shows no cards, see above');
  const modes = cards.value.rows.map(({ index, readings: { computeMode } }) => ({
    index: index ?? '?',
    mode: computeMode.kind === 'value' ? computeMode.value : null,
  }));
  const odd = modes.filter(({ mode }) => mode !== null && mode !== 'Default');
  if (odd.length > 0) {
    const says = odd.map(({ index, mode }) => `card ${index}: ${mode}`).join(', ');
    return warning(
      `${says}: Prohibited takes a card out, Exclusive_Process fails a job of several processes`,
      'nvidia-smi -i INDEX -c DEFAULT, unless it is meant',
    );
  }
  if (modes.every(({ mode }) => mode === null)) return unknown('the driver does not say');
  return ok('Default on all cards');
}

/** `version` is `/proc/version`, null where it cannot be read. Under WSL the driver is that of Windows. */
export function judgeWsl(version: string | null): Verdict {
  if (version === null) return unknown('/proc/version cannot be read');
  if (!/microsoft/i.test(version)) return ok('this is no WSL');
  return warning(
    'this is WSL: the driver lists no processes, tells no health and has no kernel log, so that use from outside shows by memory alone',
    'nothing; for a machine that several people share, install Linux',
  );
}

/** Above this, ages on the page and times in the log mislead people; nothing is decided by it. */
const MUCH_MS = 5000;

/** `aheadMs`: how far Docker's clock is ahead of ours; null where it does not tell. */
export function judgeClock(aheadMs: number | null): Verdict {
  if (aheadMs === null) return unknown('Docker does not tell its time, so that the clock cannot be compared');
  if (Math.abs(aheadMs) <= MUCH_MS) return ok("agrees with Docker's");
  return warning(
    `Docker's clock is ${Math.round(Math.abs(aheadMs) / 1000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} ours: ages of containers are shown wrong`,
    'turn on time synchronisation on both machines (timedatectl)',
  );
}
