/** Judges what the eyes see, by the settings of this gate. */

import type { JudgeRules, Occupancy } from '../model/occupancy.js';
import type { Eyes, Watch, Watched } from '../model/ports.js';
import type { Snapshot } from '../model/snapshot.js';
import { judge } from '../occupancy/judge.js';

/** `maxAgeMs`: how old a look may be that a page or a scrape uses again. */
export function createWatch(
  eyes: Eyes,
  rules: JudgeRules,
  maxAgeMs: number,
): Watch & { readonly rejudge: (snapshot: Snapshot) => Occupancy } {
  // A snapshot never changes, so what is judged of it does not either: a scrape that shares a look shares the judgement.
  const judged = new WeakMap<Snapshot, Watched>();
  const judgedOnce = (snapshot: Snapshot): Watched => {
    const watched = judged.get(snapshot) ?? { snapshot, occupancy: judge(snapshot, rules) };
    judged.set(snapshot, watched);
    return watched;
  };
  return {
    recent: async (withinMs) => judgedOnce(await eyes.recent(maxAgeMs, withinMs)),
    fresh: async () => judgedOnce(await eyes.fresh()),
    rejudge: (snapshot) => judge(snapshot, rules),
  };
}
