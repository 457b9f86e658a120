/**
 * Keeps one file for each card with the run that holds it, as dcgm-exporter's HPC job mapping reads them (`--hpc-job-mapping-dir`):
 * the name is the card's index and nothing else, each line is one job, and a card without a file has no label `hpc_job`.
 * https://github.com/NVIDIA/dcgm-exporter/blob/main/internal/pkg/transformation/hpc.go
 */

import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Occupancy } from '../model/occupancy.js';
import type { Log } from '../model/ports/outside.js';

/** To be told of every look; what cannot be written is logged once, and tried again at the next. */
export interface JobMapping {
  told(occupancy: Occupancy): void;
  /** Waits until what was told is written, or could not be. */
  settled(): Promise<void>;
}

/** Files of cards that nobody holds are removed, also those that an earlier life of the gate left. Other names are left alone. */
export function createJobMapping(folder: string, log: Log): JobMapping {
  let wanted: ReadonlyMap<string, string> | null = null;
  let written: ReadonlyMap<string, string> | null = null;
  let writing: Promise<void> | null = null;
  let complained = false;

  async function write(): Promise<void> {
    while (wanted !== null && (written === null || !same(wanted, written))) {
      const now = wanted;
      try {
        await bringUpToDate(folder, now);
        written = now;
        complained = false;
      } catch (error) {
        if (!complained)
          log.error(
            { folder, why: (error as Error).message },
            `${folder}: the jobs of the cards cannot be written there`,
          );
        complained = true;
        written = null;
        return;
      }
    }
  }

  return {
    told: (occupancy) => {
      // Who holds what is not known then: what stands is the best that is known.
      if (occupancy.probes.docker.state !== 'ok') return;
      wanted = jobsByIndex(occupancy);
      writing ??= write().finally(() => {
        writing = null;
      });
    },
    settled: async () => {
      await writing;
    },
  };
}

/** The text of each file. A run id has no line break: it is a label's value, and a claim's is cut and made plain. */
function jobsByIndex({ cards }: Occupancy): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const { index, claims } of cards) {
    const runs = claims.map(({ runId }) => runId.replaceAll(/\s+/g, ' '));
    if (index !== null && runs.length > 0) texts.set(String(index), `${runs.join('\n')}\n`);
  }
  return texts;
}

async function bringUpToDate(folder: string, texts: ReadonlyMap<string, string>): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(folder)) {
    if (/^\d+$/.test(name) && !texts.has(name)) await rm(join(folder, name), { force: true });
  }
  for (const [name, text] of texts) {
    const file = join(folder, name);
    if ((await readFile(file, 'utf8').catch(() => null)) === text) continue;
    // Whole or not there: the reader has its own times. A name that is no number is passed over by it.
    const next = join(folder, `.${name}.new`);
    await writeFile(next, text, { mode: 0o644 });
    await rename(next, file);
  }
}

function same(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): boolean {
  return one.size === other.size && [...one].every(([name, text]) => other.get(name) === text);
}
