import type { ModelContainer } from '../engine/store.js';
import type { Callers } from './callers.js';
import type { Machine } from './machine.js';
import type { PlanEvent } from './plan.js';
import type { World } from './world.js';

/** Executes an event of the plan. */
export function happen(event: PlanEvent, world: World, machine: Machine, callers: Callers): void {
  const { tell, count } = world;
  if (event.kind !== 'post') count(`event: ${'what' in event ? `${event.kind} ${event.what}` : event.kind}`);
  switch (event.kind) {
    case 'post':
      return callers.post(event);
    case 'delete':
      return callers.delete(event);
    case 'freeze':
      return machine.lives.gate(event.gate)?.life.freeze(event.ms);
    case 'crash':
      return machine.lives.crash(event.gate, event.ms);
    case 'hand':
      return byHand(event, world, machine);
    case 'prune':
      tell(() => 'somebody prunes');
      return machine.engine.model.prune(SOMEBODY);
    case 'clock':
      tell(() => `the wall clock is set by ${event.byMs / 3_600_000} h`);
      return world.setWall(event.byMs);
    case 'redis':
      return toRedis(event, world, machine);
    case 'engine':
      return toEngine(event, world, machine);
    default:
      return event satisfies never;
  }
}

/** A caller that is not a gate. */
const SOMEBODY = 'somebody';

/** A person's action on one container: the `nth` of those to which it applies. */
function byHand({ what, nth }: Extract<PlanEvent, { kind: 'hand' }>, { tell }: World, { engine }: Machine): void {
  const { store } = engine.model;
  const all = [...store.containers.values()].filter(({ state }) => what === 'rename' || state !== 'running');
  const container: ModelContainer | undefined = all[nth % Math.max(1, all.length)];
  if (container === undefined) return;
  const { id, state } = container;
  tell(() => `somebody does by hand: ${what} ${id}, ${state}`);
  if (what === 'rename') store.rename(container, `kept-${id}`);
  if (what === 'remove') engine.model.remove(id, SOMEBODY, 1, () => {});
  if (what === 'start' && state === 'created') engine.model.start(id, SOMEBODY, 1, () => {});
  if (what !== 'copy') return;
  store.commit(container, `copy-of-${id}`);
  engine.model.create({ name: `copy-${id}`, Image: `copy-of-${id}` }, SOMEBODY, 1, () => {});
}

function toEngine(
  { what, ms }: Extract<PlanEvent, { kind: 'engine' }>,
  { tell, chance }: World,
  { engine }: Machine,
): void {
  tell(() => `the engine ${what} for ${ms.toFixed(0)} ms`);
  if (what === 'hangs') return engine.server.hang(ms);
  engine.server.goDown(ms);
  engine.wire.cutAll();
  return engine.model.restart(chance('half made').chance(50));
}

function toRedis({ what, ms }: Extract<PlanEvent, { kind: 'redis' }>, { tell, chance }: World, machine: Machine): void {
  const { server, wire, model } = machine.redis;
  tell(() => `Redis ${what}${what === 'empties' ? '' : ` for ${ms.toFixed(0)} ms`}`);
  if (what === 'hangs') return server.hang(ms);
  if (what === 'empties' || chance('kept').chance(50)) model.empty();
  if (what === 'empties') return;
  server.goDown(ms);
  wire.cutAll();
  machine.loseRedis();
}
