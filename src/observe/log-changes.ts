/** One log line when a probe goes blind, one when it recovers; a scrape every few seconds must not flood the log. */

import type { Log } from '../model/ports/outside.js';
import { type Off, type Probed, type ProbeName, type Snapshot, PROBES } from '../model/snapshot.js';

/** Call it with every look, in order. A new reason for blindness is logged as well. */
export function logChanges(log: Log): (snapshot: Snapshot) => void {
  const said = new Map<ProbeName, string>();
  return (snapshot) => {
    for (const name of PROBES) {
      const probe: Probed<unknown> | Off = snapshot[name];
      const before = said.get(name);
      if (probe.kind === 'blind') {
        if (before !== probe.why)
          log.warn({ probe: name, why: probe.why }, `the probe ${name} could not see: ${probe.detail}`);
        said.set(name, probe.why);
      } else if (said.delete(name)) {
        log.info({ probe: name }, `the probe ${name} sees again`);
      }
    }
  };
}
