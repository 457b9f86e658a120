/** The labels that put a run on the books, whatever runtime carries them. */

import type { Grant, JobSpec } from '../model/admission.js';
import { LABEL } from '../model/labels.js';

/**
 * The caller's own beside ours; ours win. Each of ours is always there, empty where it has nothing to say, or one that the image
 * brings along would be read as ours. A job of 0 cards carries empty lists: a claim on nothing.
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
    [LABEL.delegate]: '',
  } satisfies Record<(typeof LABEL)[keyof typeof LABEL], string>;
}

/** What a driver is told: full uuids; where one is not known (blind, and told to admit), the indices of all. */
export function deviceIds(grant: Grant): readonly string[] {
  return knownUuids(grant) ?? grant.cards.map((card) => String(card.index ?? card.uuid));
}

/** Null where the uuid of any card is not known. */
function knownUuids(grant: Grant): readonly string[] | null {
  const uuids = grant.cards.flatMap((card) => (card.uuid === null ? [] : [card.uuid]));
  return uuids.length === grant.cards.length ? uuids : null;
}
