/** The machine of a history: an engine, a Redis, and gates that live on them, die and come back. */

import type { Log } from '../../../src/model/ports/outside.js';
import { failed } from '../engine/answers.js';
import type { ClientParts } from '../engine/client.js';
import { createEngine, type Engine, type ModelContainer } from '../engine/engine.js';
import { fatesOf, longer, plainFate, type Fate, type Mishap } from '../process/fates.js';
import { createLife, type Life } from '../process/life.js';
import { createServer, type ServerState } from '../process/server.js';
import { createWire, type Wire } from '../process/wire.js';
import { redisClient, type RedisClient } from '../redis/commands.js';
import { createModelRedis, type ModelRedis } from '../redis/redis.js';
import { runOf } from '../watch/offences.js';
import type { Watch } from '../watch/watch.js';
import { startGate, type SimulatedGate } from './gate.js';
import type { Plan } from './plan.js';
import { wireStory } from './wire-story.js';
import type { World } from './world.js';

export interface Machine {
  readonly engine: Engine;
  readonly engineServer: ServerState;
  readonly engineWire: Wire;
  readonly redis: ModelRedis;
  readonly redisServer: ServerState;
  readonly redisWire: Wire;
  /** The gate of this name, or null while it is dead. */
  gate(name: string): SimulatedGate | null;
  readonly gates: readonly SimulatedGate[];
  isAlive(life: string): boolean;
  isLife(name: string): boolean;
  startAll(): void;
  /** SIGKILL; its next life begins after so long. */
  crash(gate: string, ms: number): void;
  /** The connections of all gates to Redis break. */
  loseRedis(): void;
  /** No fault from now on. */
  calm(): void;
  /** Nothing is frozen, nobody is to come back, and the engine has done all that was asked of it. */
  readonly isAtRest: boolean;
  /** The calls that met with a fault. */
  readonly faults: ReadonlySet<string>;
}

export interface MachineParts {
  readonly world: World;
  readonly plan: Plan;
  /** Calls that are spared their faults. */
  readonly spared: ReadonlySet<string>;
  readonly watch: Watch;
  /** Something has reached a process. */
  readonly touched: () => void;
  readonly onCrash: (life: Life) => void;
}

export function createMachine(parts: MachineParts): Machine {
  const { world, plan, spared, watch, touched } = parts;
  const { timeline, chance, tell, count } = world;
  const lives = new Map<string, number>();
  const gates = new Map<string, SimulatedGate>();
  const clients = new Map<Life, RedisClient>();
  const faults = new Set<string>();
  const engineServer = createServer(timeline);
  const redisServer = createServer(timeline);
  const redis = createModelRedis(world.wall);
  const engine = createEngine({
    timeline,
    wall: world.wall,
    jobMs,
    startFails,
    watch: { ...watch, ...toldOf(world, watch) },
  });
  const drawn = fatesOf(chance, plan.weather, spared);
  let isCalm = false;
  let comingBack = 0;

  const wireParts = { timeline, fates, onMishap, told: wireStory(world) };
  const engineWire = createWire({ ...wireParts, name: 'engine', server: engineServer });
  const redisWire = createWire({ ...wireParts, name: 'Redis', server: redisServer });

  function fates(call: string): Fate {
    const fate = isCalm ? plainFate(chance(call)) : drawn(call);
    if (!fate.plain) faults.add(call);
    return fate;
  }

  function onMishap(life: Life, { what, ms }: Mishap): void {
    if (what === 'freeze') life.freeze(ms);
    else crash(life.gate, ms);
  }

  function jobMs(container: ModelContainer): number {
    const dice = chance(`job ${runOf(container)} ${container.id}`);
    const length = dice.one(plan.jobs);
    if (length === 'long') return Number.POSITIVE_INFINITY;
    return length === 'short' ? longer(dice, 5, 500) : 0;
  }

  function startFails(container: ModelContainer): ReturnType<typeof failed> | null {
    const dice = chance(`start ${container.id}`);
    if (isCalm || !dice.chance(plan.startsFail)) return null;
    return dice.chance(60) ? failed(500, 'could not select device driver') : failed(400, 'no such command');
  }

  function start(gate: string): void {
    if (gates.get(gate)?.life.state !== 'dead' && gates.has(gate)) return;
    const nth = (lives.get(gate) ?? 0) + 1;
    lives.set(gate, nth);
    const name = `${gate}${nth}`;
    const dice = chance(`life ${name}`);
    const life = createLife({
      name,
      gate,
      timeline,
      wall: world.wall,
      touched,
      timersFirst: () => dice.chance(50),
      told: (what) => {
        count(`a process ${what}`);
        tell(() => `${name} is ${what}`);
      },
    });
    tell(() => `${name} begins`);
    const client: Omit<ClientParts, 'life' | 'by'> = {
      engine,
      wire: engineWire,
      onSend: watch.sent,
      onTold: watch.told,
    };
    const toRedis = plan.redis ? redisClient({ redis, wire: redisWire, life, server: redisServer }) : null;
    if (toRedis !== null) clients.set(life, toRedis);
    gates.set(
      gate,
      startGate({
        life,
        cards: plan.cards,
        lockThrough: plan.lockThrough,
        commands: toRedis?.commands ?? null,
        client,
        random: dice.next,
        log: logTelling(world, name),
        counted: count,
      }),
    );
    touched();
  }

  function crash(gate: string, ms: number): void {
    const life = gates.get(gate)?.life;
    if (life === undefined || life.state === 'dead') return;
    life.crash();
    clients.delete(life);
    parts.onCrash(life);
    comingBack += 1;
    timeline.after(ms, () => {
      comingBack -= 1;
      start(gate);
    });
  }

  const living = (): SimulatedGate[] => [...gates.values()].filter(({ life }) => life.state !== 'dead');
  return {
    engine,
    engineServer,
    engineWire,
    redis,
    redisServer,
    redisWire,
    faults,
    gate: (name) => living().find(({ life }) => life.gate === name) ?? null,
    get gates() {
      return living();
    },
    isAlive: (name) => living().some(({ life }) => life.name === name),
    isLife: (name) => (lives.get(name.slice(0, 1)) ?? 0) >= Number(name.slice(1)),
    startAll: () => plan.gates.forEach(start),
    crash,
    loseRedis() {
      for (const [life, client] of clients) life.deliver(0.1, () => client.lost());
    },
    calm() {
      isCalm = true;
      engineServer.mend();
      redisServer.mend();
      for (const { life } of living()) life.thaw();
    },
    get isAtRest() {
      return comingBack === 0 && engineWire.underWay === 0 && living().every(({ life }) => life.state === 'runs');
    },
  };
}

/** The same watch, and what really happened to containers told as well. */
function toldOf({ tell, count }: World, watch: Watch): Watch {
  const of = (container: ModelContainer): string => `${container.id} of ${runOf(container)}`;
  return {
    ...watch,
    created(container, by, body) {
      tell(
        () =>
          `  engine: ${of(container)} is there, on ${container.cards.map((uuid) => Number(uuid.slice(4, 12))).join() || 'no card'}`,
      );
      watch.created(container, by, body);
    },
    started(container, by) {
      count('starts');
      tell(() => `  engine: ${of(container)} runs, start ${container.starts}, by ${by}`);
      watch.started(container, by);
    },
    ended(container) {
      tell(() => `  engine: ${of(container)} has ended`);
      watch.ended(container);
    },
    removed(container, by) {
      tell(() => `  engine: ${of(container)} is removed by ${by}`);
      watch.removed(container, by);
    },
  };
}

function logTelling({ tell }: World, name: string): Log {
  const says = (_data: object, sentence: string): void => tell(() => `${name} says: ${sentence}`);
  return { debug: () => {}, info: says, warn: says, error: says };
}
