/** The machine of a history: an engine, a Redis, and the gates that live on them. */

import { failed } from '../engine/answers.js';
import type { ClientParts } from '../engine/client.js';
import { createEngine, type Engine } from '../engine/engine.js';
import type { ModelContainer } from '../engine/store.js';
import { fatesOf, longer, plainFate, type Fate } from '../process/fates.js';
import type { Life } from '../process/life.js';
import { createServer, type ServerState } from '../process/server.js';
import { createWire, type Answer, type Wire } from '../process/wire.js';
import { redisClient, type RedisClient } from '../redis/commands.js';
import { createRedises, type Redises } from '../redis/redis.js';
import { runOf } from '../watch/offences.js';
import type { Watch } from '../watch/watch.js';
import { startGate, type SimulatedGate } from './gate.js';
import { createLives, type Lives } from './lives.js';
import type { Plan } from './plan.js';
import { logTelling, watchTelling, wireTelling } from './telling.js';
import type { World } from './world.js';

/** A server that gates call: whether it listens, the way to it, and its content. */
interface Reached<T> {
  readonly server: ServerState;
  readonly wire: Wire;
  readonly model: T;
}

export interface Machine {
  readonly engine: Reached<Engine>;
  readonly redis: Reached<Redises>;
  readonly lives: Lives;
  /** Breaks the connections of all gates to Redis. */
  loseRedis(): void;
  /** No faults from now on; frozen processes continue. */
  calm(): void;
  /** Nothing is frozen, no restart is pending, and the engine has finished all its calls. */
  readonly isAtRest: boolean;
  /** The calls that met with a fault. */
  readonly faults: ReadonlySet<string>;
}

export interface MachineParts {
  readonly world: World;
  readonly plan: Plan;
  /** Calls that are exempt from faults. */
  readonly spared: ReadonlySet<string>;
  readonly watch: Watch;
  /** Something has reached a process. */
  readonly touched: () => void;
  readonly onCrash: (life: Life) => void;
}

export function createMachine({ world, plan, spared, watch, touched, onCrash }: MachineParts): Machine {
  const { timeline, chance, wall } = world;
  const drawn = fatesOf(chance, plan.weather, plan.focus, spared);
  const faults = new Set<string>();
  const clients = new Map<Life, RedisClient>();
  let isCalm = false;

  function fates(call: string): Fate {
    const fate = isCalm ? plainFate(chance(call)) : drawn(call);
    if (!fate.plain) faults.add(call);
    return fate;
  }

  function reached<T>(name: 'engine' | 'Redis', model: T): Reached<T> {
    const server = createServer(timeline);
    const onMishap = (life: Life, { what, ms }: NonNullable<Fate['process']>): void =>
      what === 'freeze' ? life.freeze(ms) : lives.crash(life.gate, ms);
    const wire = createWire({ name, server, timeline, fates, onMishap, told: wireTelling(world) });
    return { server, wire, model };
  }

  function startFails(container: ModelContainer): Answer | null {
    const dice = chance(`start of ${container.id}`);
    if (isCalm || !dice.chance(plan.startsFail)) return null;
    return dice.chance(60) ? failed(500, 'could not select device driver') : failed(400, 'no such command');
  }

  function build(life: Life, dice: { next(): number }): SimulatedGate {
    const client: Omit<ClientParts, 'life' | 'by'> = {
      engine: engine.model,
      wire: engine.wire,
      onSend: watch.sent,
      onTold: watch.told,
    };
    const { wire, server, model } = redis;
    const toRedis = plan.redis === 'none' ? null : redisClient({ redis: model.of(life.gate), wire, life, server });
    if (toRedis !== null) clients.set(life, toRedis);
    return startGate({
      life,
      cards: plan.cards,
      lockThrough: plan.lockThrough,
      commands: toRedis?.commands ?? null,
      client,
      random: dice.next,
      log: logTelling(world, life.name),
      counted: world.count,
      line: watch.lineOf(life),
    });
  }

  const jobMs = (container: ModelContainer): number => jobOf(container, world, plan);
  const engine = reached(
    'engine',
    createEngine({ timeline, wall, jobMs, startFails, watch: watchTelling(world, watch) }),
  );
  const redis = reached('Redis', createRedises(wall, plan.redis === 'one'));
  const lives = createLives({ world, touched, build, onCrash });
  return {
    engine,
    redis,
    lives,
    faults,
    loseRedis() {
      for (const [life, client] of clients) life.deliver(0.1, () => client.lost());
    },
    calm() {
      isCalm = true;
      engine.server.mend();
      redis.server.mend();
      for (const { life } of lives.gates) life.thaw();
    },
    get isAtRest() {
      const allRun = lives.gates.every(({ life }) => life.state === 'runs');
      return allRun && lives.comingBack === 0 && engine.wire.underWay === 0;
    },
  };
}

/** How long this job runs, in milliseconds. */
function jobOf(container: ModelContainer, { chance }: World, { jobs }: Plan): number {
  const dice = chance(`job ${runOf(container)} ${container.id}`);
  const length = dice.one(jobs);
  if (length === 'long') return Number.POSITIVE_INFINITY;
  return length === 'short' ? longer(dice, 5, 500) : 0;
}
