/**
 * A Docker Engine in memory, with the functions that a gate uses. It behaves like the real one, and a contract suite tests
 * both with the same rows: a start also restarts what has ended, a remove waits for a start in progress and removes what has
 * ended since, a name is taken before its container appears, and is free as soon as the container is gone.
 */

import type { Timeline } from '../process/timeline.js';
import type { Answer } from '../process/wire.js';
import {
  conflict,
  inspected,
  listed,
  matches,
  missing,
  nameTaken,
  notModified,
  ok,
  running,
  type ListQuery,
} from './answers.js';
import { createStore, type CreateBody, type EngineWatch, type ModelContainer, type Store } from './store.js';
import { createTurns } from './turns.js';

export interface EngineParts {
  readonly timeline: Timeline;
  /** Epoch milliseconds. */
  readonly wall: () => number;
  /** How long a job runs, called when it starts; infinity: until something ends it. */
  readonly jobMs: (container: ModelContainer) => number;
  /** Why a start of it fails; null: it works. */
  readonly startFails?: (container: ModelContainer) => Answer | null;
  /** What runs before a job and may take time, like NVIDIA's hook; the start continues with `goOn`. */
  readonly hook?: (goOn: () => void) => void;
  readonly watch: EngineWatch;
}

type Finish = (answer: Answer) => void;

/**
 * The calls, as they are executed in the engine. `by` tells the watch who called; each finishes after `takesMs`, or later.
 */
export interface Engine {
  readonly store: Store;
  list(query: ListQuery, finish: Finish): void;
  create(body: CreateBody, by: string, takesMs: number, finish: Finish): void;
  start(ref: string, by: string, takesMs: number, finish: Finish): void;
  remove(ref: string, by: string, takesMs: number, finish: Finish): void;
  inspect(ref: string, finish: Finish): void;
  /** `docker container prune`: removes everything that does not run. */
  prune(by: string): void;
  /** Its jobs end, calls in progress are lost, and a container that had not appeared yet exists afterwards or does not. */
  restart(keepsHalfMade: boolean): void;
}

export function createEngine(parts: EngineParts): Engine {
  const { timeline, startFails = () => null, hook = (goOn) => goOn() } = parts;
  const store = createStore(parts.wall, parts.watch);
  const turns = createTurns(later);
  /** Names that are taken before their containers appear. */
  const halfMade = new Map<string, () => void>();
  let boots = 0;

  /** Schedules the rest of a call, which is dropped if the engine goes down before. */
  function later(ms: number, act: () => void): void {
    const boot = boots;
    timeline.after(ms, () => {
      if (boot === boots) act();
    });
  }

  /** The container once it is its turn, or the answer that it does not exist. */
  function inTurn(
    ref: string,
    lagMs: number,
    finish: Finish,
    act: (container: ModelContainer, giveBack: () => void) => void,
  ): void {
    const container = store.find(ref);
    if (container === undefined) return finish(missing(ref));
    turns.take(container.id, lagMs, (giveBack) => {
      if (store.find(container.id) !== undefined) return act(container, giveBack);
      giveBack();
      finish(missing(ref));
    });
  }

  function run(container: ModelContainer, by: string): void {
    store.run(container, by);
    const lastsMs = parts.jobMs(container);
    const start = container.starts;
    if (lastsMs === Number.POSITIVE_INFINITY) return;
    later(lastsMs, () => {
      if (container.starts === start) store.finish(container, 0);
    });
  }

  function remove(ref: string, by: string, takesMs: number, finish: Finish): void {
    inTurn(ref, takesMs, finish, (container, giveBack) => {
      giveBack();
      if (container.state === 'removing') return finish(conflict(`removal of container ${ref} is already in progress`));
      if (container.state === 'running') return finish(running(ref));
      store.beginRemoval(container, by);
      later(takesMs, () => {
        store.vanish(container);
        finish(ok(204));
      });
    });
  }

  return {
    store,

    list(query, finish) {
      finish(ok(200, [...store.containers.values()].filter((one) => matches(one, query)).map(listed)));
    },

    create(body, by, takesMs, finish) {
      const name = body.name ?? '';
      if (!store.reserve(name)) return finish(nameTaken(name));
      const container = store.make(name, body);
      halfMade.set(name, () => store.appear(container, body, by));
      later(takesMs, () => {
        halfMade.delete(name);
        store.appear(container, body, by);
        finish(ok(201, { Id: container.id, Warnings: [] }));
      });
    },

    start(ref, by, takesMs, finish) {
      inTurn(ref, 0, finish, (container, giveBack) => {
        const refusal = refusalToStart(container);
        if (refusal !== null) {
          giveBack();
          return finish(refusal);
        }
        const goOn = (): void => {
          const failure = startFails(container);
          if (failure === null) run(container, by);
          giveBack();
          finish(failure ?? ok(204));
        };
        later(takesMs, () => hook(goOn));
      });
    },

    remove,

    inspect(ref, finish) {
      inTurn(ref, 0, finish, (container, giveBack) => {
        giveBack();
        finish(ok(200, inspected(container)));
      });
    },

    prune(by) {
      for (const { id, state } of Array.from(store.containers.values())) {
        if (state === 'created' || state === 'exited') remove(id, by, 0, () => {});
      }
    },

    restart(keepsHalfMade) {
      boots += 1;
      turns.forget();
      // Listeners are disconnected, and get no events of what the dying engine still does.
      store.hangUp();
      for (const [name, appear] of Array.from(halfMade)) {
        if (keepsHalfMade) appear();
        else store.free(name);
      }
      halfMade.clear();
      for (const container of Array.from(store.containers.values())) {
        store.finish(container, 137);
        if (container.state === 'removing') store.vanish(container);
      }
    },
  };
}

/** Null where it may start: it was created, or has ended. */
function refusalToStart({ state }: ModelContainer): Answer | null {
  if (state === 'running') return notModified();
  return state === 'removing' ? conflict('container is marked for removal and cannot be started') : null;
}
