/** The gates of a history: each lives, dies and is restarted as a new life. */

import type { Dice } from '../../soak/random.js';
import { createLife, type Life } from '../process/life.js';
import type { SimulatedGate } from './gate.js';
import type { World } from './world.js';

export interface Lives {
  /** The live ones, including frozen ones. */
  readonly gates: readonly SimulatedGate[];
  /** The gate with this name, or null while it is dead. */
  gate(name: string): SimulatedGate | null;
  isAlive(life: string): boolean;
  /** Whether any life so far has this name. */
  isLife(name: string): boolean;
  /** Begins the next life of a gate, unless it is alive. */
  begin(gate: string): void;
  /** SIGKILL; its next life begins after so long. */
  crash(gate: string, ms: number): void;
  /** How many will be restarted. */
  readonly comingBack: number;
}

export interface LivesParts {
  readonly world: World;
  /** Something has reached a process. */
  readonly touched: () => void;
  /** Builds the gate of this life. */
  readonly build: (life: Life, dice: Dice) => SimulatedGate;
  readonly onCrash: (life: Life) => void;
}

export function createLives({ world, touched, build, onCrash }: LivesParts): Lives {
  const { timeline, chance, tell, count } = world;
  const gates = new Map<string, SimulatedGate>();
  const names = new Set<string>();
  let comingBack = 0;
  const living = (): SimulatedGate[] => [...gates.values()].filter(({ life }) => life.state !== 'dead');
  const gateOf = (name: string): SimulatedGate | null => living().find(({ life }) => life.gate === name) ?? null;

  function nextName(gate: string): string {
    for (let nth = 1; ; nth += 1) if (!names.has(`${gate}${nth}`)) return `${gate}${nth}`;
  }

  function begin(gate: string): void {
    if (gateOf(gate) !== null) return;
    const name = nextName(gate);
    names.add(name);
    tell(() => `${name} begins`);
    const dice = chance(`life ${name}`);
    const life = createLife({
      name,
      gate,
      timeline,
      wall: world.wall,
      touched,
      timersFirst: () => dice.chance(50),
      told(what) {
        count(`a process ${what}`);
        tell(() => `${name} is ${what}`);
      },
    });
    gates.set(gate, build(life, dice));
    touched();
  }

  return {
    get gates() {
      return living();
    },
    gate: gateOf,
    isAlive: (name) => living().some(({ life }) => life.name === name),
    isLife: (name) => names.has(name),
    begin,
    crash(gate, ms) {
      const life = gateOf(gate)?.life;
      if (life === undefined) return;
      life.crash();
      onCrash(life);
      comingBack += 1;
      timeline.after(ms, () => {
        comingBack -= 1;
        begin(gate);
      });
    },
    get comingBack() {
      return comingBack;
    },
  };
}
