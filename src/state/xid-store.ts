import type { Clock, Log } from '../model/ports/outside.js';
import type { XidStore } from '../model/ports/xid-store.js';
import { XID_RECORD } from './file-formats.js';
import { openJsonFile } from './json-file.js';

/** What was processed of the kernel's log, from the file in the state folder. Never throws. */
export async function openXidStore(
  folder: string,
  outside: { clock: Clock; log: Log },
): Promise<XidStore & { settled(): Promise<void> }> {
  const file = await openJsonFile(folder, XID_RECORD, outside);
  return {
    load: () => file.entries()[0] ?? null,
    save: (record) => {
      void file.replace([record]);
    },
    settled: () => file.replace(file.entries()),
  };
}
