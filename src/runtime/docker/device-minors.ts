/** Which card is behind `/dev/nvidia3`: the number is the driver's minor, which may differ from the card's index. */

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const DRIVER_FOLDER = '/proc/driver/nvidia/gpus';
const DEVICE_FILE = /^\/dev\/nvidia(\d+)$/;

/**
 * The ids with each device file replaced by its card's uuid, from the driver's files under `/proc`. Where those are missing
 * (in a container without that folder) the file stays, and counts as the index of the same number, which is right on most
 * machines.
 */
export async function resolveDeviceFiles(ids: readonly string[], folder = DRIVER_FOLDER): Promise<readonly string[]> {
  if (!ids.some((id) => DEVICE_FILE.test(id))) return ids;
  const uuids = await uuidsByMinor(folder);
  return ids.map((id) => uuids.get(DEVICE_FILE.exec(id)?.[1] ?? '') ?? id);
}

async function uuidsByMinor(folder: string): Promise<ReadonlyMap<string, string>> {
  const cards = await readdir(folder).catch(() => []);
  const texts = await Promise.all(
    cards.map((card) => readFile(join(folder, card, 'information'), 'utf8').catch(() => '')),
  );
  return new Map(
    texts.flatMap((text): [string, string][] => {
      const minor = /^Device Minor:\s*(\d+)\s*$/m.exec(text)?.[1];
      const uuid = /^GPU UUID:\s*(GPU-[0-9a-f-]+)\s*$/m.exec(text)?.[1];
      return minor === undefined || uuid === undefined ? [] : [[minor, uuid]];
    }),
  );
}
