/** Turns a decision into an HTTP answer, by the table of answers in README.md. Pure. */

import type { z } from 'zod';
import { describeProblem } from '../http/problem.js';
import type { Decision, GrantedCard, Run, Running, RunRef, Wait } from '../model/admission.js';
import type { Place } from '../model/line.js';
import type { placeShape } from './answer-shape.js';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

const BLIND =
  'The probe could not see the cards; they were counted as free because no container claims them and the operator allowed it.';

/** The answer to a decision about `runId`; null for `client_gone`, where nobody is left to answer. */
export function answer(decision: Decision, runId: string): Answer | null {
  switch (decision.kind) {
    case 'admitted': {
      const { replayed } = decision;
      const body = { decision: 'admitted', replayed, ...given(runId, decision), run: runOf(decision.run) };
      return replayed ? json(200, body) : json(201, body, { Location: `/runs/${runId}` });
    }
    case 'starting': {
      const { explain } = decision;
      const body = {
        decision: 'starting',
        ...given(runId, decision),
        ...(explain === undefined ? {} : { explain }),
        run: runOf(decision.run),
      };
      return json(202, body, { Location: `/runs/${runId}` });
    }
    case 'ended':
      return json(200, { decision: 'ended', ...given(runId, decision), run: endedRunOf(decision.run) });
    case 'wait':
    case 'would_wait':
      return waiting(decision, runId);
    case 'would_admit':
      return json(200, { dry_run: true, decision: 'would_admit', ...given(runId, decision) });
    case 'would_replay': {
      const run = endedRunOf(decision.run);
      return json(200, { dry_run: true, decision: 'would_replay', ...given(runId, decision), run });
    }
    case 'refused':
      return describeProblem(decision);
    case 'client_gone':
      return null;
    default:
      return decision satisfies never;
  }
}

/** The line in the form that `/runs` and `/status.json` return. */
export function placesAnswer(places: readonly Place[]): z.infer<typeof placeShape>[] {
  return places.map((place, at) => ({
    run_id: place.runId,
    position: at + 1,
    count: place.count,
    principal: place.principal,
    image: place.image,
    labels: { ...place.labels },
    since: place.since,
    waiting_seconds: Math.floor(place.waitedMs / 1000),
  }));
}

/** A run in the form that `/runs` returns. */
export function runAnswer(run: Run): Readonly<Record<string, unknown>> {
  return {
    run_id: run.runId,
    state: run.state,
    position: run.position ?? null,
    principal: run.principal,
    labels: { ...run.labels },
    image: run.image,
    command: run.command,
    cards: run.cards.map(({ index, uuid }) => ({ index, uuid })),
    exit_code: run.exitCode,
    oom_killed: run.oomKilled,
    error: run.error,
    created_at: run.createdAt,
    started_at: run.startedAt,
    finished_at: run.finishedAt,
  };
}

function waiting(decision: Wait & { readonly kind: 'wait' | 'would_wait' }, runId: string): Answer {
  const seconds = Math.max(1, Math.ceil(decision.retryAfterSeconds));
  const body = {
    ...(decision.kind === 'would_wait' ? { dry_run: true } : {}),
    decision: decision.kind,
    run_id: runId,
    requested: decision.requested,
    free: decision.free,
    position: decision.place?.position ?? null,
    waiting_seconds: decision.place === undefined ? null : Math.floor(decision.place.waitedMs / 1000),
    retry_after_seconds: seconds,
    explain: decision.explain,
    reasons: decision.reasons.map(({ code, cards }) => ({ code, cards })),
  };
  return json(200, body, { 'Retry-After': String(seconds) });
}

function given(
  runId: string,
  running: Pick<Running, 'cards' | 'placement' | 'admittedBlind'>,
): Record<string, unknown> {
  return {
    run_id: runId,
    gpus: running.cards.flatMap(({ index }) => (index === null ? [] : [index])),
    cards: running.cards.map(({ index, uuid, name }: GrantedCard) => ({ index, uuid, name })),
    placement: running.placement,
    ...(running.admittedBlind ? { admitted_blind: true, explain: BLIND } : {}),
  };
}

function runOf({ name, containerId, state }: RunRef): Record<string, unknown> {
  return { name, container_id: containerId, state };
}

function endedRunOf(run: RunRef): Record<string, unknown> {
  return { ...runOf(run), exit_code: run.exitCode };
}

function json(status: number, body: Record<string, unknown>, headers: Record<string, string> = {}): Answer {
  return { status, headers: { 'Content-Type': 'application/json', ...headers }, body };
}
