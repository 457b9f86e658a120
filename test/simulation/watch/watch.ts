import type { Decision } from '../../../src/model/admission.js';
import type { Sent, ToldState } from '../engine/client.js';
import type { CreateBody, EngineWatch, ModelContainer } from '../engine/store.js';
import type { Post } from '../history/plan.js';
import type { Life } from '../process/life.js';
import { judgeAfterwards, judgeAnswer } from './answers.js';
import { judgeCall, type CallRules } from './calls.js';
import { countExecutions } from './executions.js';
import { hasRun, runOf, type Ask, type Facts, type Offence, type OffenceKind } from './offences.js';
import { watchLine, type LineWatch } from './overtaking.js';

/** Observes every step of a history, and reports what must never happen. */
export interface Watch extends EngineWatch {
  readonly offences: readonly Offence[];
  /** Requests that live gates have not answered. */
  readonly open: readonly Ask[];
  /** Containers that gates created and nobody has started or removed. */
  readonly leftOver: readonly ModelContainer[];
  asked(post: Post, life: Life): Ask;
  answered(ask: Ask, decision: Decision): void;
  threw(what: string, error: unknown): void;
  /** A gate sends a call that would change something. */
  sent(call: Sent): void;
  /** A gate learned this state of a container. */
  told(life: Life, id: string, state: ToldState, closely: boolean): void;
  /** The watch over the line of this life. */
  lineOf(life: Life): LineWatch;
  /** No faults occur any more, and every time limit has expired. */
  atRest(): void;
}

export interface WatchParts extends CallRules {
  readonly containers: () => ReadonlyMap<string, ModelContainer>;
  readonly counted: (what: string) => void;
  /** Whether a gate did it on its own; otherwise a caller or a person wanted it. */
  readonly isLife: (by: string) => boolean;
  /** The one kind of offence that counts; null: all. */
  readonly heeds: OffenceKind | null;
}

export function createWatch(parts: WatchParts): Watch {
  const { now, step, containers, counted, isLife, heeds } = parts;
  const offences: Offence[] = [];
  const facts: Facts = {
    asks: [],
    makers: new Map(),
    ever: new Map(),
    told: new Map(),
    ran: new Set(),
    heard: new Set(),
    removedRuns: new Set(),
    isThere: (id) => containers().has(id),
    offend(kind, detail) {
      if (heeds === null || heeds === kind) offences.push({ kind, detail });
    },
  };
  const executions = countExecutions(facts, counted);
  const askOf = new WeakMap<CreateBody, Ask>();
  const open = (): readonly Ask[] => facts.asks.filter(({ answer, life }) => answer === null && life.state !== 'dead');

  const leftOver = (): readonly ModelContainer[] =>
    [...containers().values()].filter(({ id, state }) => state === 'created' && isLife(facts.makers.get(id)?.by ?? ''));

  /** Records what a life learned about a container. */
  function take(key: string, life: Life, id: string, state: ToldState, closely: boolean): void {
    if (state === 'heard') return void facts.heard.add(key);
    facts.told.set(key, { state, step: step() });
    if (closely && hasRun(state)) facts.ran.add(key);
    const container = facts.ever.get(id);
    if (state !== 'removed' || container === undefined || !facts.heard.has(key)) return;
    facts.removedRuns.add(`${life.name} ${runOf(container)}`);
  }

  /** Somebody wants it removed, and may want it again. */
  function forget(run: string): void {
    for (const known of facts.removedRuns) if (known.endsWith(` ${run}`)) facts.removedRuns.delete(known);
  }

  return {
    offences,
    get leftOver() {
      return leftOver();
    },
    get open() {
      return open();
    },
    asked(post, life) {
      const ask: Ask = { post, life, gone: false, answer: null, made: [] };
      facts.asks.push(ask);
      return ask;
    },
    answered(ask, decision) {
      ask.answer = decision;
      judgeAnswer(ask, decision, facts);
    },
    threw: (what, error) => facts.offend('something was thrown', `${what}: ${String(error)}`),
    sent(call) {
      const ask = judgeCall(call, facts, parts);
      if (ask !== null && call.kind === 'create') askOf.set(call.body, ask);
    },
    told: (life, id, state, closely) => take(`${life.name} ${id}`, life, id, state, closely),

    created(container, by, body) {
      const ask = askOf.get(body) ?? null;
      facts.ever.set(container.id, container);
      facts.makers.set(container.id, { by, at: now(), ask });
      ask?.made.push(container);
      judgeAfterwards(container, facts);
    },
    started(container, by) {
      executions.started(container, isLife(by));
      const maker = facts.makers.get(container.id)?.by;
      // Perhaps by its name: the call itself does not tell.
      if (isLife(by) && maker !== by) facts.offend("another's container was started", `${container.id} of ${maker}`);
      if (isLife(by)) judgeAfterwards(container, facts);
    },
    ended: (container) => executions.ended(container),
    removed(container, by) {
      executions.removed(container, isLife(by));
      if (!isLife(by)) forget(runOf(container));
    },

    lineOf: (life) =>
      watchLine({
        life,
        everHadContainer: (run) => [...facts.ever.values()].some((container) => runOf(container) === run),
        overtaken: (detail) => facts.offend('overtaking', detail),
      }),

    atRest() {
      for (const { post, life } of open()) facts.offend('a request was never answered', `${post.run} at ${life.name}`);
      for (const { id } of leftOver()) {
        facts.offend('a card is lost', `${id}, which ${facts.makers.get(id)?.by} created, is still there`);
      }
    },
  };
}
