/** Judges what the eyes see, by the settings of this gate. */

import type { JudgeRules, Occupancy } from '../model/occupancy.js';
import type { Eyes, Watch } from '../model/ports.js';
import type { Snapshot } from '../model/snapshot.js';
import { judge } from '../occupancy/judge.js';

/** `maxAgeMs`: how old a look may be that a page or a scrape uses again. */
export function createWatch(
  eyes: Eyes,
  rules: JudgeRules,
  maxAgeMs: number,
): Watch & { readonly rejudge: (snapshot: Snapshot) => Occupancy } {
  return {
    async recent(withinMs) {
      const snapshot = await eyes.recent(maxAgeMs, withinMs);
      return { snapshot, occupancy: judge(snapshot, rules) };
    },
    async fresh() {
      const snapshot = await eyes.fresh();
      return { snapshot, occupancy: judge(snapshot, rules) };
    },
    rejudge: (snapshot) => judge(snapshot, rules),
  };
}
