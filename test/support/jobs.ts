import type { ContainerRequest, Grant, JobSpec } from '../../src/model/admission.js';
import { cardIndex, cardUuid } from '../../src/model/card.js';
import type { Log } from '../../src/model/ports/outside.js';

/** The log's lines, as `level sentence`. */
export function listeningLog(): Log & { readonly lines: readonly string[] } {
  const lines: string[] = [];
  const at = (level: string) => (_data: object, sentence: string) => void lines.push(`${level} ${sentence}`);
  return { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** A request that specifies only the image. */
export function plainRequest(image: string, more: Partial<ContainerRequest> = {}): ContainerRequest {
  return { image, env: {}, mounts: [], labels: {}, ulimits: {}, ports: [], devices: [], capAdd: [], ...more };
}

/** A job that the policy allowed, with as many cards as the grant has. */
export function job(runId: string, container: ContainerRequest, count = 2): JobSpec {
  return { runId, count, container, specSha256: 'f'.repeat(64), pidsLimit: 4096 };
}

/** A card's uuid that a person can tell from others. */
export const uuidOf = (index: number) => cardUuid(`GPU-0000000${index}-0000-4000-8000-00000000000${index}`);

/** These cards, granted by the gate `gate-a`. */
export function grantOf(...indices: readonly number[]): Grant {
  const cards = indices.map((index) => ({
    index: cardIndex(index),
    uuid: uuidOf(index),
    name: 'NVIDIA H100 80GB HBM3',
  }));
  return {
    cards,
    admittedBy: 'gate-a',
    life: 'life-1',
    admittedAt: '2026-11-29T12:00:00.000Z',
    principal: 'console',
    delegate: '',
  };
}
