/** The callers of the gates: they post, perhaps retry when told to, hang up, delete. */

import type { Decision } from '../../../src/model/admission.js';
import { jobSpec } from '../../support/admissions.js';
import { longer } from '../process/fates.js';
import type { Life } from '../process/life.js';
import type { Ask } from '../watch/offences.js';
import type { Watch } from '../watch/watch.js';
import type { SimulatedGate } from './gate.js';
import type { PlanEvent, Post } from './plan.js';
import type { World } from './world.js';

export interface Callers {
  post(post: Post): void;
  delete(request: Extract<PlanEvent, { kind: 'delete' }>): void;
  /** Callers that wait for this life get no answer, and may retry. */
  crashed(life: Life): void;
  /** How many will retry. */
  readonly toCome: number;
}

export function createCallers(
  { timeline, chance, tell, count }: World,
  watch: Watch,
  gateOf: (name: string) => SimulatedGate | null,
): Callers {
  let posts = 0;
  let toCome = 0;

  function again(post: Post): void {
    if (post.insists === 0) return;
    toCome += 1;
    timeline.after(longer(chance(`again ${++posts}`), 30, 1500), () => {
      toCome -= 1;
      send({ ...post, insists: post.insists - 1, hangsUpAfterMs: null });
    });
  }

  function send(post: Post): void {
    const gate = gateOf(post.gate);
    if (gate === null) {
      tell(() => `nobody listens at ${post.gate} to a post of ${post.run}`);
      return again(post);
    }
    gate.life.deliver(0.2, () => ask(post, gate));
  }

  function ask(post: Post, { life, admissions }: SimulatedGate): void {
    const hangsUp = new AbortController();
    const open = watch.asked(post, life);
    const spec = jobSpec(post.run, post.count, post.variant === 1 ? {} : { workingDir: '/other' });
    tell(() => `${life.name} is asked for ${post.run} on ${post.count}${post.variant === 1 ? '' : ', otherwise'}`);
    admissions.admit(spec, { name: 'console', roles: ['admit'] }, hangsUp.signal).then(
      (decision) => answered(open, decision),
      (error: unknown) => watch.threw(`admit of ${post.run} at ${life.name}`, error),
    );
    if (post.hangsUpAfterMs === null) return;
    timeline.after(post.hangsUpAfterMs, () =>
      life.deliver(0, () => {
        if (open.answer !== null) return;
        tell(() => `the caller of ${post.run} at ${life.name} hangs up`);
        open.gone = true;
        hangsUp.abort();
      }),
    );
  }

  function answered(open: Ask, decision: Decision): void {
    const { post, life } = open;
    count(`answer: ${wordFor(decision)}`);
    tell(
      () =>
        `${life.name} answers ${post.run}: ${wordFor(decision)}${'run' in decision ? ` in ${decision.run.containerId}` : ''}${decision.kind === 'refused' ? `: ${decision.detail}` : ''}`,
    );
    watch.answered(open, decision);
    if (
      decision.kind === 'wait' ||
      (decision.kind === 'refused' && decision.retryAfterSeconds !== undefined) ||
      decision.kind === 'starting'
    )
      again(post);
  }

  return {
    post: send,
    delete({ gate: name, run }) {
      const gate = gateOf(name);
      gate?.life.deliver(0.2, () => {
        tell(() => `${gate.life.name} is told to delete ${run}`);
        const remove = async (): Promise<void> => {
          const answer = await gate.runs().remove(run, { name: 'ops', roles: ['operate'] });
          const word = typeof answer === 'string' ? answer : answer.code;
          count(`DELETE: ${word}`);
          tell(() => `${gate.life.name} answers the DELETE of ${run}: ${word}`);
        };
        remove().catch((error: unknown) => watch.threw(`DELETE of ${run} at ${name}`, error));
      });
    },
    crashed(life) {
      for (const { post } of watch.open.filter((one) => one.life === life)) again(post);
    },
    get toCome() {
      return toCome;
    },
  };
}

/** The decision in one or two words. */
export function wordFor(decision: Decision): string {
  if (decision.kind === 'admitted') return decision.replayed ? 'replayed' : 'admitted';
  if (decision.kind === 'wait') return `wait (${decision.reasons[0]?.code ?? 'no reason'})`;
  return decision.kind === 'refused' ? decision.code : decision.kind;
}
