/**
 * A Docker Engine in memory, as far as a gate asks anything of it. It keeps to the real one, and a contract suite holds both to
 * the same rows: a start also restarts what has ended, a remove waits for a start under way and takes what has ended since,
 * a name is taken before its container shows, and is free as soon as the container is gone.
 */

import type { Timeline } from '../process/timeline.js';
import type { Answer } from '../process/wire.js';
import { conflict, failed, inspected, listed, matches, missing, ok, type ListQuery } from './answers.js';
import { createTurns } from './turns.js';

export interface ModelContainer {
  readonly id: string;
  /** Without the slash. */
  name: string;
  readonly image: string;
  readonly labels: Readonly<Record<string, string>>;
  /** What its device request names. */
  readonly cards: readonly string[];
  /** Epoch seconds. */
  readonly created: number;
  state: 'created' | 'running' | 'exited' | 'removing';
  exitCode: number;
  /** How often a start of it took effect. */
  starts: number;
}

/** What is asked of a new container; as much of Docker's own body as counts here. */
export interface CreateBody {
  readonly name?: string;
  readonly Image?: string;
  readonly Labels?: Readonly<Record<string, string>>;
  readonly HostConfig?: { readonly DeviceRequests?: readonly { readonly DeviceIDs?: readonly string[] }[] };
}

/** Told of what really happens to containers, in that moment. */
export interface EngineWatch {
  created(container: ModelContainer, by: string, body: CreateBody): void;
  started(container: ModelContainer, by: string): void;
  ended(container: ModelContainer): void;
  /** From here on nothing stops its removal; `by` is who asked for it. */
  removed(container: ModelContainer, by: string): void;
}

export interface EngineParts {
  readonly timeline: Timeline;
  /** Epoch milliseconds. */
  readonly wall: () => number;
  /** How long a job runs, told when it starts; infinity: until something ends it. */
  readonly jobMs: (container: ModelContainer) => number;
  /** Why a start of it fails; null: it works. */
  readonly startFails?: (container: ModelContainer) => Answer | null;
  readonly watch: EngineWatch;
}

/** What the stream of events tells. */
export interface EngineEvent {
  readonly what: 'start' | 'die' | 'destroy';
  readonly id: string;
  readonly exitCode: number | null;
}

type Finish = (answer: Answer) => void;

/** The calls, as they happen in the engine; each `takesMs` in it, and `by` tells the watch who asked. */
export interface Engine {
  readonly containers: ReadonlyMap<string, ModelContainer>;
  list(query: ListQuery, finish: Finish): void;
  create(body: CreateBody, by: string, takesMs: number, finish: Finish): void;
  start(id: string, by: string, takesMs: number, finish: Finish): void;
  remove(id: string, by: string, takesMs: number, finish: Finish): void;
  inspect(id: string, finish: Finish): void;
  rename(id: string, name: string): Answer;
  /** `docker container prune`: everything that does not run. */
  prune(by: string): void;
  /** `docker commit`: an image of this name, which has the labels of the container. */
  commit(id: string, image: string): void;
  /** The labels that an image brings along; every image is there. */
  labelsOf(image: string): Readonly<Record<string, string>>;
  /** Tells of each event from now on, in order. Returns the way to stop. */
  onEvent(told: (event: EngineEvent) => void): () => void;
  /** The job of a running container ends. */
  end(id: string, exitCode?: number): void;
  /** Its processes end, what was under way in it is lost, and what had been asked for by then may be there or not. */
  restart(keepsHalfMade: boolean): void;
}

export function createEngine(parts: EngineParts): Engine {
  const { timeline, wall, watch, startFails = () => null } = parts;
  const containers = new Map<string, ModelContainer>();
  const names = new Set<string>();
  const images = new Map<string, Readonly<Record<string, string>>>();
  const listeners = new Set<(event: EngineEvent) => void>();
  /** Names that are taken and whose containers do not show yet. */
  const halfMade = new Map<string, () => void>();
  let boots = 0;
  let count = 0;

  /** Lets the rest of a call happen later, unless the engine goes down before. */
  function later(ms: number, act: () => void): void {
    const boot = boots;
    timeline.after(ms, () => {
      if (boot === boots) act();
    });
  }

  const turns = createTurns(later);

  function tellAll(what: EngineEvent['what'], { id, exitCode }: ModelContainer): void {
    for (const told of listeners) told({ what, id, exitCode: what === 'die' ? exitCode : null });
  }

  function appear(name: string, body: CreateBody, by: string): string {
    halfMade.delete(name);
    const id = `c${String(++count).padStart(11, '0')}`;
    const image = body.Image ?? '';
    const labels = { ...images.get(image), ...body.Labels };
    const container: ModelContainer = {
      id,
      name,
      image,
      labels,
      cards: (body.HostConfig?.DeviceRequests ?? []).flatMap(({ DeviceIDs = [] }) => DeviceIDs),
      created: Math.floor(wall() / 1000),
      state: 'created',
      exitCode: 0,
      starts: 0,
    };
    containers.set(id, container);
    watch.created(container, by, body);
    return id;
  }

  function run(container: ModelContainer, by: string): void {
    container.state = 'running';
    container.starts += 1;
    watch.started(container, by);
    tellAll('start', container);
    const lastsMs = parts.jobMs(container);
    const start = container.starts;
    if (lastsMs < Number.POSITIVE_INFINITY) later(lastsMs, () => container.starts === start && finishJob(container, 0));
  }

  function finishJob(container: ModelContainer, exitCode: number): void {
    if (container.state !== 'running') return;
    container.state = 'exited';
    container.exitCode = exitCode;
    watch.ended(container);
    tellAll('die', container);
  }

  function vanish(container: ModelContainer): void {
    containers.delete(container.id);
    names.delete(container.name);
    tellAll('destroy', container);
  }

  function remove(id: string, by: string, takesMs: number, finish: Finish): void {
    const container = containers.get(id);
    if (container === undefined) return finish(missing(id));
    if (container.state === 'removing') return finish(conflict(`removal of container ${id} is already in progress`));
    turns.take(id, takesMs, (giveBack) => {
      giveBack();
      if (!containers.has(id)) return finish(missing(id));
      if (container.state === 'removing') return finish(conflict(`removal of container ${id} is already in progress`));
      if (container.state === 'running')
        return finish(
          conflict(
            `You cannot remove a running container ${id}. Stop the container before attempting removal or force remove`,
          ),
        );
      container.state = 'removing';
      watch.removed(container, by);
      later(takesMs, () => {
        vanish(container);
        finish(ok(204));
      });
    });
  }

  return {
    containers,

    list: (query, finish) => finish(ok(200, [...containers.values()].filter((one) => matches(one, query)).map(listed))),

    create(body, by, takesMs, finish) {
      const name = body.name ?? '';
      if (names.has(name)) return finish(conflict(`Conflict. The container name "/${name}" is already in use`));
      names.add(name);
      halfMade.set(name, () => appear(name, body, by));
      later(takesMs, () => finish(ok(201, { Id: appear(name, body, by), Warnings: [] })));
    },

    start(id, by, takesMs, finish) {
      if (!containers.has(id)) return finish(missing(id));
      turns.take(id, 0, (giveBack) => {
        const container = containers.get(id);
        const refusal = container === undefined ? missing(id) : mayStart(container);
        if (container === undefined || refusal !== null) {
          giveBack();
          return finish(refusal ?? missing(id));
        }
        later(takesMs, () => {
          const failure = startFails(container);
          if (failure === null) run(container, by);
          giveBack();
          finish(failure ?? ok(204));
        });
      });
    },

    remove,

    inspect(id, finish) {
      if (!containers.has(id)) return finish(missing(id));
      turns.take(id, 0, (giveBack) => {
        giveBack();
        const container = containers.get(id);
        finish(container === undefined ? missing(id) : ok(200, inspected(container)));
      });
    },

    rename(id, name) {
      const container = containers.get(id);
      if (container === undefined) return missing(id);
      if (names.has(name)) return conflict(`Conflict. The container name "/${name}" is already in use`);
      names.delete(container.name);
      names.add(name);
      container.name = name;
      return ok(204);
    },

    prune(by) {
      for (const { id, state } of [...containers.values()]) {
        if (state === 'created' || state === 'exited') remove(id, by, 0, () => {});
      }
    },

    commit: (id, image) => void images.set(image, containers.get(id)?.labels ?? {}),
    labelsOf: (image) => images.get(image) ?? {},
    onEvent(told) {
      listeners.add(told);
      return () => listeners.delete(told);
    },

    end(id, exitCode = 0) {
      const container = containers.get(id);
      if (container !== undefined) finishJob(container, exitCode);
    },

    restart(keepsHalfMade) {
      boots += 1;
      turns.forget();
      // Who listens is cut off, and hears nothing of what the dying engine still does.
      listeners.clear();
      for (const [name, appears] of [...halfMade]) {
        if (keepsHalfMade) appears();
        else names.delete(name);
      }
      halfMade.clear();
      for (const container of [...containers.values()]) {
        if (container.state === 'running') finishJob(container, 137);
        if (container.state === 'removing') vanish(container);
      }
    },
  };
}

/** Null where it may: what was created, and what has ended. */
function mayStart(container: ModelContainer): Answer | null {
  if (container.state === 'running') return { status: 304, body: 'container already started' };
  if (container.state === 'removing') return failed(409, 'container is marked for removal and cannot be started');
  return null;
}
