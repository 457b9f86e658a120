/** Minimizes a history with an offence: leaves out whatever can be left out while the same offence still occurs. */

import type { OffenceKind } from '../watch/offences.js';
import { runHistory, type History } from './history.js';
import type { Plan, PlanEvent } from './plan.js';

export interface Shrunk {
  readonly plan: Plan;
  /** Calls that are exempt from the fault which the seed has for them. */
  readonly spared: ReadonlySet<string>;
  /** With its story. */
  readonly history: History;
}

/** `kind` is the offence of the seed. Runs the history some hundred times. */
export async function shrink(seed: number, whole: Plan, kind: OffenceKind): Promise<Shrunk> {
  let plan = whole;
  let spared: ReadonlySet<string> = new Set();
  const run = (of: Plan, without: ReadonlySet<string>, wantsStory = false): Promise<History> =>
    runHistory({ seed, plan: of, spared: without, heeds: kind, wantsStory });

  /** Continues with the smaller one if it has the same offence. */
  async function smaller(of: Plan, without: ReadonlySet<string>): Promise<boolean> {
    if ((await run(of, without)).offence === null) return false;
    plan = of;
    spared = without;
    return true;
  }

  async function withoutFaults(): Promise<boolean> {
    let progress = false;
    const faults = [...(await run(plan, spared)).faults];
    for (let size = faults.length; size >= 1; size = Math.floor(size / 2)) {
      for (let at = 0; at < faults.length; at += size) {
        const more = faults.slice(at, at + size).filter((fault) => !spared.has(fault));
        if (more.length > 0 && (await smaller(plan, new Set([...spared, ...more])))) progress = true;
      }
    }
    return progress;
  }

  async function withFewerEvents(): Promise<boolean> {
    let progress = false;
    for (let at = plan.events.length - 1; at >= 0; at -= 1) {
      if (await smaller({ ...plan, events: plan.events.toSpliced(at, 1) }, spared)) progress = true;
    }
    return progress;
  }

  async function withSimplerEvents(): Promise<boolean> {
    let progress = false;
    for (let at = 0; at < plan.events.length; at += 1) {
      for (const simpler of simplerThan(plan.events[at]!)) {
        if (await smaller({ ...plan, events: plan.events.with(at, simpler) }, spared)) progress = true;
      }
    }
    return progress;
  }

  async function withFewerGates(): Promise<boolean> {
    const asked = plan.gates.filter((gate) => plan.events.some((event) => 'gate' in event && event.gate === gate));
    return asked.length < plan.gates.length && smaller({ ...plan, gates: asked }, spared);
  }

  const ways = [withoutFaults, withFewerEvents, withFewerGates, withSimplerEvents];
  for (let progress = true; progress;) {
    progress = false;
    for (const way of ways) if (await way()) progress = true;
  }
  return { plan, spared, history: await run(plan, spared, true) };
}

/** The same event, each time with one thing less; empty where nothing is left to remove. */
function simplerThan(event: PlanEvent): readonly PlanEvent[] {
  if (event.kind !== 'post') return [];
  return [
    ...(event.insists > 0 ? [{ ...event, insists: 0 }] : []),
    ...(event.hangsUpAfterMs !== null ? [{ ...event, hangsUpAfterMs: null }] : []),
    ...(event.count !== 1 ? [{ ...event, count: 1 }] : []),
  ];
}
