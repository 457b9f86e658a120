/** What `nvidia-smi` prints besides its rows, told in the log once and again only after it was gone. */

import type { Log } from '../model/ports/outside.js';
import type { Snapshot } from '../model/snapshot.js';

/** To be told of every look, in order. A look that was blind says nothing of remarks. */
export function logRemarks(log: Pick<Log, 'warn'>): (snapshot: Snapshot) => void {
  let told = new Set<string>();
  return ({ gpus, processRemarks = [] }) => {
    if (gpus.kind === 'blind') return;
    const remarks = new Set([...(gpus.value.remarks ?? []), ...processRemarks]);
    for (const remark of remarks) if (!told.has(remark)) log.warn({}, remark);
    told = remarks;
  };
}
