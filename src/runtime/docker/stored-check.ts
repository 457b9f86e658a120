/**
 * Whether an engine keeps what it was asked for: some silently drop device requests, and their jobs would start without
 * cards.
 */

import type Docker from 'dockerode';
import { z } from 'zod';
import { askDocker } from '../../docker/ask-docker.js';
import { inWords } from '../../docker/errors.js';
import type { Grant, JobSpec } from '../../model/admission.js';
import type { Hands, StoredAnswer } from '../../model/ports/hands.js';
import type { Clock } from '../../model/ports/outside.js';
import { deviceIds, runLabels } from '../labels.js';

export interface StoredCheck {
  readonly compare: Hands['compare'];
  /**
   * What the engine was found to drop, as a sentence; null again after a new connection to it, or after a container that
   * matches.
   */
  trouble(): string | null;
}

export interface StoredCheckParts {
  readonly docker: Docker;
  readonly clock: Clock;
  /** Different for each connection to the engine; null while there is none, and then each container is compared. */
  readonly connection: () => number | null;
  readonly limitMs?: number;
}

/**
 * Checks once per connection, since an engine that was restarted may be another one. A container without cards proves
 * nothing about device requests: the first one with cards is compared too.
 */
export function createStoredCheck({ docker, clock, connection, limitMs = 10_000 }: StoredCheckParts): StoredCheck {
  let kept: { readonly on: number; readonly cards: boolean } | null = null;
  let trouble: { readonly on: number | null; readonly detail: string } | null = null;

  const isKnown = (cards: boolean): boolean =>
    kept !== null && kept.on === connection() && (kept.cards || !cards) && trouble === null;

  function learn(on: number | null, cards: boolean, detail: string | null): void {
    if (detail !== null) {
      trouble = { on, detail };
      return;
    }
    if (cards) trouble = null;
    // A result from an old connection says nothing about the current one.
    if (on !== null && on === connection()) kept = { on, cards: cards || (kept?.on === on && kept.cards) };
  }

  return {
    async compare(id, spec, grant) {
      const cards = grant.cards.length > 0;
      if (isKnown(cards)) return { kind: 'as_asked' };
      const on = connection();
      const asked = await askDocker(limitMs, (abortSignal) => docker.getContainer(id).inspect({ abortSignal }), clock);
      if (asked.kind === 'answered' && asked.status === 404) return { kind: 'gone' };
      if (asked.kind !== 'answer') return { kind: 'in_doubt', detail: inWords(asked) };
      const answer = judge(asked.value, spec, grant);
      if (answer.kind !== 'in_doubt') learn(on, cards, answer.kind === 'lacks' ? answer.detail : null);
      return answer;
    },
    trouble() {
      const now = connection();
      const isOver = trouble !== null && now !== null && trouble.on !== null && now !== trouble.on;
      return isOver ? null : (trouble?.detail ?? null);
    },
  };
}

/** By what was stored, and not by the name or the version of the engine. */
function judge(body: unknown, spec: JobSpec, grant: Grant): StoredAnswer {
  const parsed = inspectBody.safeParse(body);
  if (!parsed.success) return { kind: 'in_doubt', detail: `its inspect was invalid: ${z.prettifyError(parsed.error)}` };
  const { HostConfig, Config } = parsed.data;
  const ids = deviceIds(grant);
  if (ids.length > 0 && !(HostConfig.DeviceRequests ?? []).some((request) => isFor(ids, request))) {
    return {
      kind: 'lacks',
      detail:
        'this engine drops device requests: it stored the container without the cards that it was asked for, and the job would start without them. Point DOCKER_HOST at a Docker Engine of 19.03 or later',
    };
  }
  const labels = Config?.Labels ?? {};
  const lost = Object.entries(runLabels(spec, grant)).filter(([name, value]) => (labels[name] ?? '') !== value);
  if (lost.length === 0) return { kind: 'as_asked' };
  const names = lost.map(([name]) => name).slice(0, 5);
  return {
    kind: 'lacks',
    detail: `this engine drops labels (${names.join(', ')}), which are the books of who holds which card`,
  };
}

type DeviceRequest = NonNullable<z.infer<typeof inspectBody>['HostConfig']['DeviceRequests']>[number];

function isFor(ids: readonly string[], { DeviceIDs }: DeviceRequest): boolean {
  const stored = DeviceIDs ?? [];
  return stored.length === ids.length && ids.every((id) => stored.includes(id));
}

const inspectBody = z.object({
  Config: z.object({ Labels: z.record(z.string(), z.string()).nullish() }).nullish(),
  HostConfig: z.object({ DeviceRequests: z.array(z.object({ DeviceIDs: z.array(z.string()).nullish() })).nullish() }),
});
