/** The result of an admission: what to print, the exit code, and whether to ask again. Pure. */

import { EXIT } from '../terminal/exit-codes.js';
import type { GateSaid } from './ask-gate.js';
import { shownDecision, type ShownDecision } from './gate-shapes.js';
import { failureOf } from './problem-words.js';

export interface Outcome {
  readonly lines: readonly string[];
  readonly exit: number;
  /** How many seconds the gate wants to wait for the next request; null where the answer will not change. */
  readonly againInS: number | null;
  /** The response body, for `--json`; null where there was none. */
  readonly body: unknown;
}

/** For an answer in which the gate names no time. */
const AGAIN_S = 5;

export function outcomeOf(said: GateSaid): Outcome {
  const body = said.kind === 'answered' ? said.body : null;
  const decided = said.kind === 'answered' && said.status < 300 ? shownDecision.safeParse(said.body) : null;
  if (said.kind === 'unreachable' || decided === null || !decided.success) {
    const { lines, exit } = failureOf(said);
    const mayHelp = said.kind === 'unreachable' || said.status === 503;
    const againInS = mayHelp ? ((said.kind === 'answered' ? said.retryAfterS : null) ?? AGAIN_S) : null;
    return { lines, exit, againInS, body };
  }
  const decision = decided.data;
  return { ...wordsOf(decision), body };
}

function wordsOf(decision: ShownDecision): Omit<Outcome, 'body'> {
  const { run_id: run, run: container } = decision;
  const on = cardsIn(decision.gpus ?? []);
  const named = container === undefined ? '' : ` as ${container.name}`;
  const reasons = (decision.placement?.reasons ?? []).map((reason) => `  ${reason}`);
  switch (decision.decision) {
    case 'admitted': {
      const says = decision.replayed === true ? `${run} was admitted before and is ${container?.state}` : `${run} runs`;
      return final(EXIT.done, `admitted: ${says} on ${on}${named}`, ...reasons);
    }
    case 'starting':
      return final(
        EXIT.done,
        `starting: ${run} has ${on}${named}, and its start takes long; gpu-gate runs shows it`,
        ...reasons,
      );
    case 'ended':
      return final(
        EXIT.ended,
        `ended: ${run} has run, and ended with exit code ${container?.exit_code ?? 'unknown'}; to run it again: gpu-gate remove ${run}`,
      );
    case 'would_admit':
      return final(EXIT.done, `would be admitted: ${run} on ${on}`, ...reasons);
    case 'would_replay': {
      const lives = container === undefined || !['exited', 'dead'].includes(container.state);
      return final(
        lives ? EXIT.done : EXIT.ended,
        `is there already: ${run}${named}, ${container?.state ?? 'in an unknown state'}`,
      );
    }
    case 'wait':
    case 'would_wait':
      return {
        exit: EXIT.wait,
        againInS: decision.retry_after_seconds ?? AGAIN_S,
        lines: [
          `${decision.decision === 'wait' ? 'wait' : 'would wait'}: ${run} asks for ${decision.requested ?? '?'}, ${decision.free ?? '?'} free`,
          `  ${decision.explain ?? ''}`,
          ...(decision.reasons ?? []).map(
            ({ code, cards }) => `  ${code}${cards.length > 0 ? `: ${cardsIn(cards)}` : ''}`,
          ),
        ],
      };
    default:
      return decision.decision satisfies never;
  }
}

function final(exit: number, ...lines: readonly string[]): Omit<Outcome, 'body'> {
  return { exit, lines, againInS: null };
}

function cardsIn(indices: readonly number[]): string {
  if (indices.length === 0) return 'no cards';
  return `card${indices.length === 1 ? '' : 's'} ${indices.join(', ')}`;
}
