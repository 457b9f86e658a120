/** The body of `GET /cards`, from one snapshot and its judgement. Pure. */

import type { z } from 'zod';
import type { Reservation } from '../model/line.js';
import type { Claim, ExcludedBecause, JudgedCard, ProbeReport } from '../model/occupancy.js';
import type { Observation } from '../model/ports/eyes.js';
import { PROBES } from '../model/snapshot.js';
import type { cardShape, cardsShape, probeShape } from './card-shape.js';

/** All cards of a look. `nowMs`, in epoch milliseconds, is for the age of the look. */
export function cardsAnswer(
  { occupancy }: Observation,
  nowMs: number,
  reservation: Reservation | null,
): z.infer<typeof cardsShape> {
  const ageSeconds = Math.max(0, Math.round((nowMs - occupancy.observedAtMs) / 100) / 10);
  const probes = PROBES.map((probe) => [probe, probeAnswer(occupancy.probes[probe], ageSeconds)] as const);
  return {
    observed_at: new Date(occupancy.observedAtMs).toISOString(),
    external_probe_ok: occupancy.externalProbeOk,
    series: occupancy.series,
    explain: occupancy.explain,
    notes: [...occupancy.notes],
    counts: { ...occupancy.counts },
    probes: Object.fromEntries(probes) as z.infer<typeof cardsShape>['probes'],
    cards: occupancy.cards.map((card) => cardAnswer(card, reservation)),
  };
}

/** One card with everything found about it. */
export function cardAnswer(card: JudgedCard, reservation: Reservation | null): z.infer<typeof cardShape> {
  const { external, excluded } = card;
  return {
    index: card.index,
    uuid: card.uuid,
    name: card.name,
    pci_bus_id: card.pciBusId,
    state: card.state,
    claims: card.claims.length,
    held_by: card.claims[0] === undefined ? null : holderAnswer(card.claims[0]),
    excluded: excluded === null ? null : excludedAnswer(excluded),
    external:
      external === null
        ? null
        : {
            processes: external.processes.map(({ pid, name, memoryMib }) => ({ pid, name, memory_mib: memoryMib })),
            memory_mib: external.memoryMib,
            containers: [...external.containers],
          },
    unhealthy: card.unhealthy.map(({ reason, detail }) => ({ reason, detail })),
    warnings: card.warnings.map(({ reason, detail }) => ({ reason, detail })),
    failed_starts: card.failedStarts,
    unknown_because: card.unknownBecause,
    reserved_for: isReserved(card, reservation) ? (reservation?.runId ?? null) : null,
    memory_used_bytes: card.memoryUsedBytes,
    memory_size_bytes: card.memorySizeBytes,
    utilization_ratio: card.utilization,
    temperature_celsius: card.temperatureCelsius,
    power_watts: card.powerWatts,
    held_idle_seconds: card.heldIdleSeconds,
  };
}

function excludedAnswer({ by, reason, since, principal, until }: ExcludedBecause) {
  return { by, reason, since, principal, until };
}

function isReserved(card: JudgedCard, reservation: Reservation | null): boolean {
  const kept = reservation?.cards ?? [];
  return kept.some(({ index, uuid }) => (uuid === null ? index === card.index : uuid === card.uuid));
}

/** The oldest claim; if there are more, `claims` counts them. */
function holderAnswer(claim: Claim): NonNullable<z.infer<typeof cardShape>['held_by']> {
  return {
    run_id: claim.runId,
    container: claim.container,
    container_id: claim.containerId,
    state: claim.state,
    since: new Date(claim.createdAtMs).toISOString(),
    principal: claim.principal,
    labels: { ...claim.labels },
    image: claim.image,
    command: claim.command,
  };
}

/** `ok` is null for a probe that a setting switched off: it neither failed nor succeeded. */
function probeAnswer(report: ProbeReport, ageSeconds: number): z.infer<typeof probeShape> {
  switch (report.state) {
    case 'ok':
      return { ok: true, took_ms: whole(report.tookMs), age_seconds: ageSeconds };
    case 'failed':
      return { ok: false, took_ms: whole(report.tookMs), why: report.why, detail: report.detail };
    case 'off':
      return { ok: null, detail: report.detail ?? 'switched off by a setting' };
    default:
      return report.state satisfies never;
  }
}

function whole(milliseconds: number | null): number | null {
  return milliseconds === null ? null : Math.round(milliseconds);
}
