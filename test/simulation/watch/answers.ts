import type { Decision, Running } from '../../../src/model/admission.js';
import type { ModelContainer } from '../engine/store.js';
import { runOf, type Ask, type Facts } from './offences.js';

/** Compares an answer with the real state. */
export function judgeAnswer(ask: Ask, decision: Decision, facts: Facts): void {
  switch (decision.kind) {
    case 'admitted':
    case 'starting':
    case 'ended':
      return judgeRun(ask, decision, facts);
    case 'refused':
      return judgeRefusal(ask, decision, facts);
    case 'wait':
    case 'client_gone':
      return;
    default:
      return facts.offend('an answer names what never was', `${ask.post.run}: ${decision.kind}`);
  }
}

/** Its container existed, is this run, has these cards and, except for `starting`, has run. */
function judgeRun(
  ask: Ask,
  decision: Running & { kind: 'admitted' | 'starting' | 'ended' },
  { ever, offend }: Facts,
): void {
  const container = ever.get(decision.run.containerId);
  const cards = decision.cards.map(({ uuid }) => uuid).join();
  const isTrue =
    container !== undefined &&
    runOf(container) === ask.post.run &&
    container.cards.join() === cards &&
    (decision.kind === 'starting' || container.starts > 0);
  if (!isTrue)
    offend('an answer names what never was', `${ask.post.run}: ${decision.kind} in ${decision.run.containerId}`);
}

function judgeRefusal(ask: Ask, { code, rolledBack }: Extract<Decision, { kind: 'refused' }>, facts: Facts): void {
  if (rolledBack === true)
    for (const { id } of ask.made.filter((one) => facts.isThere(one.id))) tellLeft(ask, id, facts);
  if (code !== 'start_failed' && code !== 'container_refused') return;
  const known = ask.made.filter(({ id }) => facts.ran.has(`${ask.life.name} ${id}`));
  for (const { id } of known)
    facts.offend('a refusal hides a run', `${ask.post.run}: ${code}, and ${id} was seen to run`);
}

/** A container that appears, or starts, after its request was told that nothing is left. */
export function judgeAfterwards(container: ModelContainer, facts: Facts): void {
  const ask = facts.makers.get(container.id)?.ask;
  if (ask?.answer?.kind === 'refused' && ask.answer.rolledBack === true) tellLeft(ask, container.id, facts);
}

function tellLeft({ post, answer }: Ask, id: string, { offend }: Facts): void {
  const code = answer?.kind === 'refused' ? answer.code : '';
  offend('an answer says that nothing is left, and something is', `${post.run}: ${code}, and ${id} is there`);
}
