/** A look at a machine of two cards: card 0 held by a job, card 1 used from outside. */

import { cardIndex, cardUuid } from '../../src/model/card.js';
import type { JudgedCard, Occupancy, ProbeReport } from '../../src/model/occupancy.js';
import type { Observation } from '../../src/model/ports/eyes.js';
import type { GpuRow, ProbeName, Snapshot } from '../../src/model/snapshot.js';

export const OBSERVED_AT_MS = Date.parse('2026-11-29T12:00:00.000Z');

const bare: JudgedCard = {
  index: cardIndex(0),
  uuid: cardUuid('GPU-0'),
  name: 'NVIDIA H100 80GB HBM3',
  pciBusId: '00000000:1B:00.0',
  driverVersion: '570.1',
  series: 'nvidia h100 80gb hbm3',
  state: 'free',
  claims: [],
  excluded: null,
  external: null,
  unhealthy: [],
  warnings: [],
  health: {},
  warned: {},
  unknownBecause: null,
  processes: 0,
  failedStarts: 0,
  memoryUsedBytes: 1024,
  memorySizeBytes: 2048,
  persistenceMode: true,
  utilization: 0,
  temperatureCelsius: 31,
  powerWatts: 71.23,
  heldIdleSeconds: null,
};

const held: JudgedCard = {
  ...bare,
  state: 'job_held',
  claims: [
    {
      runId: 'train-17',
      container: 'tuneplane-train-17',
      containerId: 'c0ffee',
      state: 'running',
      createdAtMs: OBSERVED_AT_MS - 60_000,
      principal: 'console',
      labels: { team: 'vision' },
      image: 'train:1.4',
      command: 'python train.py',
    },
  ],
  unhealthy: [{ reason: 'ecc_uncorrected', detail: '3 uncorrected ECC errors since the driver was loaded' }],
};

const used: JudgedCard = {
  ...bare,
  index: cardIndex(1),
  uuid: cardUuid('GPU-1'),
  state: 'external',
  external: { processes: [{ pid: 4242, name: 'python', memoryMib: 812 }], memoryMib: 812, containers: ['jupyter'] },
  memoryUsedBytes: null,
  warnings: [{ reason: 'row_remap_pending', detail: 'takes effect at the next reset' }],
};

const report = (probe: ProbeName): ProbeReport => ({ probe, state: 'ok', why: null, detail: null, tookMs: 81.4 });

export function watchedMachine(over: Partial<Occupancy> = {}, snapshot: Partial<Snapshot> = {}): Observation {
  return {
    occupancy: {
      observedAtMs: OBSERVED_AT_MS,
      cards: [held, used],
      counts: { job_held: 1, excluded: 0, unhealthy: 0, external: 1, unknown: 0, free: 0 },
      expected: 2,
      externalProbeOk: true,
      series: 'nvidia h100 80gb hbm3',
      probes: {
        gpus: report('gpus'),
        processes: report('processes'),
        health: { ...report('health'), state: 'off', tookMs: null },
        kernel: { ...report('kernel'), state: 'off', tookMs: null },
        docker: { probe: 'docker', state: 'failed', why: 'unavailable', detail: 'the socket is not there', tookMs: 3 },
      },
      notes: ['a claim names card 9, which is not here'],
      explain: '2 cards, none free',
      links: null,
      ...over,
    },
    snapshot: {
      startedAtMs: OBSERVED_AT_MS,
      endedAtMs: OBSERVED_AT_MS + 81,
      gpus: {
        kind: 'seen',
        tookMs: 81,
        value: { rows: [row('GPU-0'), row('GPU-1')], broken: [], driverCount: 2, driverVersion: '570.1' },
      },
      processes: { kind: 'seen', value: [], tookMs: 1 },
      health: { kind: 'off' },
      docker: { kind: 'blind', why: 'unavailable', detail: 'the socket is not there', tookMs: 3 },
      links: null,
      remembered: [],
      kernel: { kind: 'off' },
      exclusions: [],
      ...snapshot,
    },
  };
}

/** Only the fields of a row that the routes read. */
function row(uuid: string): GpuRow {
  return { uuid: cardUuid(uuid) } as GpuRow;
}
