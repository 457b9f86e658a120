import type { ModelContainer } from '../engine/engine.js';
import type { Callers } from './callers.js';
import type { Machine } from './machine.js';
import type { PlanEvent } from './plan.js';
import type { World } from './world.js';

/** Lets an event of the plan happen. */
export function happen(event: PlanEvent, world: World, machine: Machine, callers: Callers): void {
  const { tell, count, chance } = world;
  if (event.kind !== 'post') count(`event: ${'what' in event ? `${event.kind} ${event.what}` : event.kind}`);
  switch (event.kind) {
    case 'post':
      return callers.post(event);
    case 'delete':
      return callers.delete(event);
    case 'freeze':
      return machine.gate(event.gate)?.life.freeze(event.ms);
    case 'crash':
      return machine.crash(event.gate, event.ms);
    case 'rename': {
      const container = pick([...machine.engine.containers.values()], event.nth);
      if (container === undefined) return;
      tell(() => `somebody renames ${container.id}, ${container.state}`);
      machine.engine.rename(container.id, `kept-${container.id}`);
      return;
    }
    case 'remove': {
      const idle = [...machine.engine.containers.values()].filter(({ state }) => state !== 'running');
      const container = pick(idle, event.nth);
      if (container !== undefined) machine.engine.remove(container.id, 'somebody', 1, () => {});
      return;
    }
    case 'prune':
      tell(() => 'somebody prunes');
      return machine.engine.prune('somebody');
    case 'clock':
      tell(() => `the wall clock is set by ${event.byMs / 3_600_000} h`);
      return world.setWall(event.byMs);
    case 'redis':
      return toRedis(event, world, machine);
    case 'engine':
      tell(() => `the engine ${event.what} for ${event.ms.toFixed(0)} ms`);
      if (event.what === 'hangs') return machine.engineServer.hang(event.ms);
      machine.engineServer.goDown(event.ms);
      machine.engineWire.cutAll();
      return machine.engine.restart(chance('half made').chance(50));
    default:
      return event satisfies never;
  }
}

function toRedis({ what, ms }: Extract<PlanEvent, { kind: 'redis' }>, { tell, chance }: World, machine: Machine): void {
  tell(() => `Redis ${what}${what === 'empties' ? '' : ` for ${ms.toFixed(0)} ms`}`);
  if (what === 'hangs') return machine.redisServer.hang(ms);
  if (what === 'empties' || chance('kept').chance(50)) machine.redis.empty();
  if (what === 'empties') return;
  machine.redisServer.goDown(ms);
  machine.redisWire.cutAll();
  machine.loseRedis();
}

function pick(containers: readonly ModelContainer[], nth: number): ModelContainer | undefined {
  return containers[nth % Math.max(1, containers.length)];
}
