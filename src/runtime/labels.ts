/** The labels that record a claim, for every runtime. */

import type { Grant, JobSpec } from '../model/admission.js';
import { LABEL } from '../model/labels.js';

/**
 * The caller's own labels plus ours, which take precedence. All of ours are always present, empty where they have no value:
 * otherwise a label of the image would be read as ours. A job of 0 cards carries empty lists: a claim on nothing.
 */
export function runLabels(spec: JobSpec, grant: Grant): Record<string, string> {
  const indices = grant.cards.flatMap((card) => (card.index === null ? [] : [card.index]));
  return {
    ...spec.container.labels,
    [LABEL.runId]: spec.runId,
    [LABEL.gpus]: indices.join(','),
    [LABEL.gpuUuids]: (knownUuids(grant) ?? []).join(','),
    [LABEL.specSha256]: spec.specSha256,
    [LABEL.admittedBy]: grant.admittedBy,
    [LABEL.admittedAt]: grant.admittedAt,
    [LABEL.principal]: grant.principal,
    [LABEL.life]: grant.life,
    [LABEL.delegate]: grant.delegate,
  } satisfies Record<(typeof LABEL)[keyof typeof LABEL], string>;
}

/** What the driver gets: full uuids; where one is unknown (blind, and admission allowed), the indices of all cards. */
export function deviceIds(grant: Grant): readonly string[] {
  return knownUuids(grant) ?? grant.cards.map((card) => String(card.index ?? card.uuid));
}

/** Null where the uuid of any card is unknown. */
function knownUuids(grant: Grant): readonly string[] | null {
  const uuids = grant.cards.flatMap((card) => (card.uuid === null ? [] : [card.uuid]));
  return uuids.length === grant.cards.length ? uuids : null;
}
