/** Findings about `nvidia-smi` and the cards that it shows. Pure: judges what was seen. */

import type { ComputeProcess, GpuRow, GpusSeen, Probed, RememberedCard } from '../model/snapshot.js';
import { ok, unknown, warning, wrong, type Verdict } from './check.js';

type Cards = Probed<GpusSeen>;

/** A look that takes longer is slow: 8 cards with persistence mode answer in about a tenth of it. */
const SLOW_MS = 2000;

/**
 * Whether the program runs, and how long it takes: the second run counts, after the first has learned the driver's fields.
 */
export function judgeNvidiaSmi(cards: Cards, timeoutMs: number): Verdict {
  if (cards.kind === 'blind') {
    return wrong(
      cards.detail,
      'install the driver, or set TUNEPLANE_NVIDIA_SMI to the program; in a container: --gpus all',
    );
  }
  const { rows, broken, driverVersion } = cards.value;
  const took = `in ${Math.round(cards.tookMs)} ms`;
  const says = `${count(rows.length, 'card')} ${took}, driver ${driverVersion ?? 'of an unknown version'}`;
  if (broken.length > 0) {
    const complaints = broken
      .map(({ index, pciBusId, words }) => `${index ?? pciBusId ?? 'a card'}: ${words}`)
      .join('; ');
    return warning(`${says}; the driver complains about ${complaints}`, 'reset or replace the card, or exclude it');
  }
  if (cards.tookMs >= Math.min(SLOW_MS, timeoutMs / 2)) {
    return warning(
      `${says}; a look that takes longer than ${timeoutMs / 1000} s is abandoned`,
      'turn on persistence mode; if it is on, raise TUNEPLANE_PROBE_TIMEOUT_S and look for a stuck driver (dmesg)',
    );
  }
  return ok(says);
}

/** Without persistence mode the driver starts anew for each look, 1 to 3 s a card. */
export function judgePersistence(cards: Cards): Verdict {
  if (cards.kind === 'blind') return notSeen();
  const off = cards.value.rows.filter(
    ({ readings: { persistenceMode } }) => persistenceMode.kind === 'value' && persistenceMode.value !== 'Enabled',
  );
  if (off.length > 0) {
    return warning(
      `off on ${named(off)}: the driver starts anew for each look, 1 to 3 s a card`,
      'systemctl enable --now nvidia-persistenced (or nvidia-smi -pm 1, until the next boot)',
    );
  }
  const silent = cards.value.rows.filter(({ readings }) => readings.persistenceMode.kind !== 'value');
  if (silent.length > 0) return unknown(`the driver does not say for ${named(silent)}`);
  return ok('on for all cards');
}

export interface ProcessListFacts {
  readonly processes: Probed<{ readonly processes: readonly ComputeProcess[]; readonly unreadable: number }>;
  readonly memoryBusyMib: number;
  /** Whether this process is in the first pid namespace of its machine; null where the kernel does not tell. */
  readonly firstNamespace: boolean | null;
}

const HOST_PIDS =
  'in a container, start it with --pid=host; otherwise look for a process that ended and left memory in use';

/** Whether the processes of the host are visible: memory in use without any listed process shows that they are not. */
export function judgeProcessList(
  cards: Cards,
  { processes, memoryBusyMib, firstNamespace }: ProcessListFacts,
): Verdict {
  if (cards.kind === 'blind') return notSeen();
  if (processes.kind === 'blind') {
    return warning(`${processes.detail}; outside use is detected by memory alone`, 'run nvidia-smi by hand');
  }
  const listed = new Set(processes.value.processes.map(({ uuid }) => uuid));
  const blind = cards.value.rows.filter(
    (row) => row.uuid !== null && used(row) >= memoryBusyMib && !listed.has(row.uuid),
  );
  if (blind.length > 0 && processes.value.unreadable === 0) {
    const amounts = blind.map((row) => `card ${row.index ?? '?'}: ${used(row)} MiB`).join(', ');
    return warning(
      `memory is in use and no process is listed (${amounts}): outside jobs that use little memory are not detected`,
      HOST_PIDS,
    );
  }
  if (processes.value.unreadable > 0) {
    return warning(
      `the driver cannot list the processes of ${count(processes.value.unreadable, 'card')}; memory alone is judged there`,
      'nothing, where the driver does not support it (WSL, some vGPUs)',
    );
  }
  if (processes.value.processes.length > 0)
    return ok(`${count(processes.value.processes.length, 'process', 'es')} listed`);
  if (firstNamespace === true) return ok("no process computes now; this is the host's process namespace");
  return unknown('no process computes now, so it is unknown whether the processes of the host are visible', HOST_PIDS);
}

/** Whether all cards are present: by the configured count, by those seen before, and by the driver's own count. */
export function judgeCount(cards: Cards, configured: number, remembered: readonly RememberedCard[]): Verdict {
  if (cards.kind === 'blind') return notSeen();
  const { rows, driverCount } = cards.value;
  if (configured > rows.length) {
    return wrong(
      `${count(rows.length, 'card')} seen, TUNEPLANE_LOCAL_GPU_COUNT says ${configured}`,
      'compare with lspci and dmesg: a card fell off the bus; or set the right count',
    );
  }
  const there = new Set(rows.map(({ uuid }) => uuid));
  const missing = remembered.filter(({ uuid }) => !there.has(uuid));
  if (missing.length > 0) {
    return wrong(
      `seen before and not now: ${missing.map(({ index, uuid }) => `card ${index} (${uuid})`).join(', ')}`,
      'compare with lspci and dmesg; one that was taken out on purpose: gpu-gate forget UUID',
    );
  }
  if (configured > 0 && configured < rows.length) {
    return warning(
      `${count(rows.length, 'card')} seen, TUNEPLANE_LOCAL_GPU_COUNT says ${configured}: those beyond are never handed out`,
      'set the right count, unless this is intended',
    );
  }
  if (driverCount !== null && driverCount > rows.length) {
    return wrong(
      `the driver counts ${driverCount} cards and shows ${rows.length}`,
      'see dmesg for the one that is missing',
    );
  }
  if (configured === 0) {
    return ok(
      `${count(rows.length, 'card')}, as many as the driver counts; set TUNEPLANE_LOCAL_GPU_COUNT to require a number`,
    );
  }
  return ok(`${count(rows.length, 'card')}, as configured`);
}

function notSeen(): Verdict {
  return unknown('nvidia-smi shows no cards, see above');
}

function used({ readings: { memoryUsedMib } }: GpuRow): number {
  return memoryUsedMib.kind === 'value' ? memoryUsedMib.value : 0;
}

function named(rows: readonly GpuRow[]): string {
  return `card${rows.length === 1 ? '' : 's'} ${rows.map(({ index }) => index ?? '?').join(',')}`;
}

function count(number: number, noun: string, plural = 's'): string {
  return `${number} ${noun}${number === 1 ? '' : plural}`;
}
