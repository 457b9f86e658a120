/**
 * One history: the plan's events, the gates' own actions and the faults of their calls, on one clock, until everything is
 * settled.
 */

import { chanceOf } from '../process/chance.js';
import type { Offence, OffenceKind } from '../watch/offences.js';
import { createWatch } from '../watch/watch.js';
import { createCallers } from './callers.js';
import { TIMES } from './gate.js';
import { happen } from './happen.js';
import { createMachine } from './machine.js';
import type { Plan } from './plan.js';
import { createWorld } from './world.js';

export interface HistoryOptions {
  readonly seed: number;
  readonly plan: Plan;
  /** Calls that are exempt from faults. */
  readonly spared?: ReadonlySet<string>;
  readonly wantsStory?: boolean;
  /** The one kind of offence that counts; left out: all. */
  readonly heeds?: OffenceKind | null;
}

export interface History {
  /** The first one ends the history. */
  readonly offence: Offence | null;
  /** How often each thing was reached. */
  readonly counts: ReadonlyMap<string, number>;
  /** The calls that met with a fault. */
  readonly faults: ReadonlySet<string>;
  readonly story: readonly string[];
  readonly steps: number;
}

/**
 * Faults stop after this time, unless everything has settled before; after as much time again everything must be settled.
 */
const TROUBLED_MS = 16_000;
const SETTLED_MS = TROUBLED_MS + 30_000;

export function runHistory(options: HistoryOptions): Promise<History> {
  const { seed, plan, spared = new Set(), wantsStory = false, heeds = null } = options;
  const world = createWorld(chanceOf(seed), wantsStory);
  const { timeline } = world;
  let touched = false;
  let steps = 0;
  const watch = createWatch({
    now: () => timeline.now,
    graceMs: TIMES.graceMs,
    redis: plan.redis !== 'none',
    step: () => steps,
    isAlive: (life) => machine.lives.isAlive(life),
    isLife: (name) => machine.lives.isLife(name),
    containers: () => machine.engine.model.store.containers,
    counted: world.count,
    heeds,
  });
  const callers = createCallers(world, watch, (name) => machine.lives.gate(name));
  const machine = createMachine({
    world,
    plan,
    spared,
    watch,
    touched: () => void (touched = true),
    onCrash: callers.crashed,
  });
  let planned = plan.events.length;
  for (const event of plan.events) {
    timeline.after(event.at, () => {
      planned -= 1;
      happen(event, world, machine, callers);
    });
  }
  for (const gate of plan.gates) machine.lives.begin(gate);

  const isAtRest = (): boolean =>
    planned === 0 && callers.toCome === 0 && machine.isAtRest && watch.open.length === 0 && watch.leftOver.length === 0;

  return new Promise((resolve, reject) => {
    let until = TROUBLED_MS;
    const end = (): void => {
      const offence = watch.offences[0] ?? null;
      if (offence !== null) world.tell(() => `${offence.kind}: ${offence.detail}`);
      const { counts, story } = world;
      resolve({ offence, counts, story, steps, faults: machine.faults });
    };
    const goOn = (): void => {
      for (;;) {
        if (watch.offences.length > 0) return end();
        touched = false;
        const went = timeline.step(until);
        if (!went) {
          if (until === SETTLED_MS) return (watch.atRest(), end());
          until = SETTLED_MS;
          world.tell(() => 'no fault from now on');
          machine.calm();
          continue;
        }
        steps += 1;
        if (touched) return void setImmediate(afterTurn);
      }
    };
    const afterTurn = (): void => {
      try {
        if (isAtRest()) return end();
        goOn();
      } catch (error) {
        reject(error);
      }
    };
    setImmediate(afterTurn);
  });
}
