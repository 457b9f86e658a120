/** The result of each probe of a look, for display. */

import type { ProbeReport } from '../model/occupancy.js';
import type { Off, Probed, ProbeName, Snapshot } from '../model/snapshot.js';

/** One report per probe; a probe that is switched off neither succeeded nor failed. */
export function reportProbes(snapshot: Snapshot): Record<ProbeName, ProbeReport> {
  return {
    gpus: report('gpus', snapshot.gpus),
    processes: report('processes', snapshot.processes),
    health: report('health', snapshot.health),
    docker: report('docker', snapshot.docker),
    kernel: report('kernel', snapshot.kernel),
  };
}

function report(probe: ProbeName, probed: Probed<unknown> | Off): ProbeReport {
  switch (probed.kind) {
    case 'seen':
      return { probe, state: 'ok', why: null, detail: null, tookMs: probed.tookMs };
    case 'blind':
      return { probe, state: 'failed', why: probed.why, detail: probed.detail, tookMs: probed.tookMs };
    case 'off':
      return { probe, state: 'off', why: null, detail: probed.detail ?? null, tookMs: null };
    default:
      return probed satisfies never;
  }
}
