/** The checks that query `nvidia-smi`. */

import { readlink } from 'node:fs/promises';
import { SILENT } from '../log/silent-log.js';
import type { GpusSeen, Probed } from '../model/snapshot.js';
import { createNvidiaSmi, type NvidiaSmi } from '../probe/nvidia-smi/nvidia-smi.js';
import { readCardsSeen } from '../state/read-cards-seen.js';
import { defaultStateFolders } from '../state/usable-folder.js';
import { check, type Check } from './check.js';
import type { Installation } from './installation.js';
import { judgeCount, judgeNvidiaSmi, judgePersistence, judgeProcessList } from './judge-cards.js';
import { once } from './once.js';

/** The answers of `nvidia-smi`, each queried once. */
export interface CardsAsked {
  readonly gpus: () => Promise<Probed<GpusSeen>>;
  readonly processes: () => ReturnType<NvidiaSmi['processes']>;
}

export function createCardsAsked({ settings, clock }: Installation): CardsAsked {
  const smi = createNvidiaSmi({
    program: settings.nvidiaSmi,
    timeoutMs: settings.probeTimeoutS * 1000,
    checkHealth: settings.localCheckGpuHealth,
    clock,
    log: SILENT,
  });
  return {
    gpus: once(async () => {
      // The first run may take several: the driver refuses the fields that it does not know one at a time.
      const first = (await smi.gpus()).gpus;
      return first.kind === 'blind' ? first : (await smi.gpus()).gpus;
    }),
    processes: once(() => smi.processes()),
  };
}

export function checkCards({ settings, env }: Installation, { gpus, processes }: CardsAsked): readonly Check[] {
  const timeoutMs = settings.probeTimeoutS * 1000;
  const limitMs = 2 * timeoutMs + 1000;
  return [
    check('nvidia-smi', async () => judgeNvidiaSmi(await gpus(), timeoutMs), limitMs),
    check('persistence-mode', async () => judgePersistence(await gpus()), limitMs),
    check(
      'process-list',
      async () => {
        const [cards, listed, firstNamespace] = await Promise.all([gpus(), processes(), inFirstNamespace()]);
        return judgeProcessList(cards, {
          processes: listed,
          memoryBusyMib: settings.memoryBusyMib,
          firstNamespace,
        });
      },
      limitMs,
    ),
    check(
      'card-count',
      async () => {
        const folders = settings.stateDir === null ? defaultStateFolders(env) : [settings.stateDir];
        const [cards, remembered] = await Promise.all([gpus(), readCardsSeen(folders)]);
        return judgeCount(cards, settings.localGpuCount, remembered);
      },
      limitMs,
    ),
  ];
}

/** PROC_PID_INIT_INO in the kernel's include/linux/proc_ns.h. */
const FIRST_NAMESPACE = 'pid:[4026531836]';

async function inFirstNamespace(): Promise<boolean | null> {
  return readlink('/proc/self/ns/pid').then(
    (name) => name === FIRST_NAMESPACE,
    () => null,
  );
}
