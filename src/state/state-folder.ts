import { randomUUID } from 'node:crypto';
import type { CardStore } from '../model/ports/card-store.js';
import type { PlaceStore } from '../model/ports/line.js';
import type { Clock, Log } from '../model/ports/outside.js';
import type { XidStore } from '../model/ports/xid-store.js';
import { openCardStore } from './card-store.js';
import { lockFile, lockFolder } from './folder-lock.js';
import { ownInstanceId } from './instance-id.js';
import { openPlaceStore } from './place-store.js';
import { usableFolder } from './usable-folder.js';
import { openXidStore } from './xid-store.js';

export interface StateFolderParts {
  /** The configured folder, or the default places in order; the first writable one is used. */
  readonly candidates: readonly string[];
  /**
   * `TUNEPLANE_INSTANCE_ID`: takes precedence, and the saved id is not overwritten. Null: the id in the folder, created if
   * missing.
   */
  readonly instanceId: string | null;
  readonly clock: Clock;
  readonly log: Log;
  /** Creates an id. */
  readonly newId?: () => string;
}

export type StateFolder =
  | {
      readonly kind: 'open';
      readonly folder: string;
      readonly instanceId: string;
      readonly cards: CardStore;
      readonly places: PlaceStore;
      readonly xids: XidStore;
      /** Waits for pending writes and releases the folder. */
      close(): Promise<void>;
    }
  /** `detail` says what is wrong and what to do, for the operator. */
  | { readonly kind: 'refused'; readonly detail: string };

/**
 * Opens the folder in which the gate keeps its state. One live gate holds it at a time; a gate that was killed holds
 * nothing. A folder in use is never skipped for the next: two gates on one machine must be configured apart on purpose.
 */
export async function openStateFolder(parts: StateFolderParts): Promise<StateFolder> {
  const { clock, log } = parts;
  const found = await usableFolder(parts.candidates);
  if (found.kind === 'unusable') {
    return refused(
      `No folder for the state can be written (${found.detail}). Set TUNEPLANE_STATE_DIR to one that can.`,
    );
  }
  const { folder } = found;
  if (found.openToOthers) log.warn({ folder }, `${folder} can be written by others; chmod 0700 is what it should have`);

  const locked = await lockFolder(folder);
  if (locked.kind === 'failed') return refused(`The state folder cannot be kept to one gate: ${locked.detail}.`);
  if (locked.kind === 'taken') {
    return refused(
      `${folder} is in use by another live gate ('fuser -v ${lockFile(folder)}' shows its process). ` +
        'Two gates on one machine need two folders: TUNEPLANE_STATE_DIR.',
    );
  }

  try {
    const instanceId = parts.instanceId ?? (await ownInstanceId(folder, parts.newId ?? randomUUID, { clock, log }));
    const cards = await openCardStore(folder, { clock, log });
    const places = await openPlaceStore(folder, { clock, log });
    const xids = await openXidStore(folder, { clock, log });
    return {
      kind: 'open',
      folder,
      instanceId,
      cards,
      places,
      xids,
      async close() {
        await cards.settled();
        await places.settled();
        await xids.settled();
        await locked.unlock();
      },
    };
  } catch (error) {
    await locked.unlock();
    return refused(`The state in ${folder} cannot be opened: ${(error as Error).message}`);
  }
}

function refused(detail: string): StateFolder {
  return { kind: 'refused', detail };
}
