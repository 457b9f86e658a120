/** Logs what `nvidia-smi` prints besides its rows, once, and again only after it had disappeared. */

import type { Log } from '../model/ports/outside.js';
import type { Snapshot } from '../model/snapshot.js';

/** Call it with every look, in order. A blind look says nothing about remarks. */
export function logRemarks(log: Pick<Log, 'warn'>): (snapshot: Snapshot) => void {
  let told = new Set<string>();
  return ({ gpus, processRemarks = [] }) => {
    if (gpus.kind === 'blind') return;
    const remarks = new Set([...(gpus.value.remarks ?? []), ...processRemarks]);
    for (const remark of remarks) if (!told.has(remark)) log.warn({}, remark);
    told = remarks;
  };
}
