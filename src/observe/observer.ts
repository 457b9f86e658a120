/** Judges each look by the settings of this gate. */

import type { JudgeRules, Occupancy } from '../model/occupancy.js';
import type { Eyes, Observer, Observation } from '../model/ports/eyes.js';
import type { Snapshot } from '../model/snapshot.js';
import { judge } from '../occupancy/judge.js';
import { watchHeldIdle } from './held-idle.js';

/**
 * `maxAgeMs`: the maximum age of a look that a page or a scrape may reuse. `onJudged`: called once with each look's judgement,
 * in order.
 */
export function createObserver(
  eyes: Eyes,
  rules: JudgeRules,
  maxAgeMs: number,
  onJudged: (occupancy: Occupancy) => void = () => undefined,
): Observer {
  // A snapshot never changes, so its judgement can be cached: scrapes that share a look share the judgement.
  const judged = new WeakMap<Snapshot, Observation>();
  const heldIdle = watchHeldIdle();
  const judgedOnce = (snapshot: Snapshot): Observation => {
    const known = judged.get(snapshot);
    if (known !== undefined) return known;
    const observation = { snapshot, occupancy: heldIdle(snapshot, judge(snapshot, rules)) };
    judged.set(snapshot, observation);
    onJudged(observation.occupancy);
    return observation;
  };
  return {
    recent: async (withinMs) => judgedOnce(await eyes.recent(maxAgeMs, withinMs)),
    fresh: async () => judgedOnce(await eyes.fresh()),
    rejudge: (snapshot) => judge(snapshot, rules),
  };
}
