/** The containers of an engine in memory, their names and images, and the listeners to their events. */

export interface ModelContainer {
  readonly id: string;
  /** Without the slash. */
  name: string;
  readonly image: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The ids in its device request. */
  readonly cards: readonly string[];
  /** Epoch seconds. */
  readonly created: number;
  state: 'created' | 'running' | 'exited' | 'removing';
  exitCode: number;
  /** How often it was actually started. */
  starts: number;
}

/** The request for a new container; the parts of Docker's body that matter here. */
export interface CreateBody {
  readonly name?: string;
  readonly Image?: string;
  readonly Labels?: Readonly<Record<string, string>>;
  readonly HostConfig?: { readonly DeviceRequests?: readonly { readonly DeviceIDs?: readonly string[] }[] };
}

/** Called for what really happens to containers, at that moment; `by` is the caller. */
export interface EngineWatch {
  created(container: ModelContainer, by: string, body: CreateBody): void;
  started(container: ModelContainer, by: string): void;
  ended(container: ModelContainer): void;
  /** From here on nothing stops its removal. */
  removed(container: ModelContainer, by: string): void;
}

/** The content of the event stream. */
export interface EngineEvent {
  readonly what: 'start' | 'die' | 'destroy';
  readonly id: string;
  readonly exitCode: number | null;
}

export interface Store {
  readonly containers: ReadonlyMap<string, ModelContainer>;
  /** By id or by name, like the real one. */
  find(ref: string): ModelContainer | undefined;
  /** Reserves a name for a container that does not appear yet. False where it is taken. */
  reserve(name: string): boolean;
  free(name: string): void;
  /** Creates it under a reserved name, with its id and time stamp; it appears later. */
  make(name: string, body: CreateBody): ModelContainer;
  appear(container: ModelContainer, body: CreateBody, by: string): void;
  run(container: ModelContainer, by: string): void;
  /** Its job ends, if it runs. */
  finish(container: ModelContainer, exitCode: number): void;
  beginRemoval(container: ModelContainer, by: string): void;
  vanish(container: ModelContainer): void;
  /** False where the name is taken. */
  rename(container: ModelContainer, name: string): boolean;
  /** `docker commit`: an image of this name, with the labels of the container. */
  commit(container: ModelContainer, image: string): void;
  /** The labels in an image; every image exists. */
  labelsOf(image: string): Readonly<Record<string, string>>;
  /** Delivers each event from now on, in order. Returns the function that stops it. */
  onEvent(told: (event: EngineEvent) => void): () => void;
  /** Removes all event listeners. */
  hangUp(): void;
}

/** `wall` is in epoch milliseconds. */
export function createStore(wall: () => number, watch: EngineWatch): Store {
  const containers = new Map<string, ModelContainer>();
  const names = new Set<string>();
  const images = new Map<string, Readonly<Record<string, string>>>();
  const listeners = new Set<(event: EngineEvent) => void>();
  let count = 0;

  function tellAll(what: EngineEvent['what'], { id, exitCode }: ModelContainer): void {
    for (const told of listeners) told({ what, id, exitCode: what === 'die' ? exitCode : null });
  }

  return {
    containers,
    find: (ref) => containers.get(ref) ?? [...containers.values()].find(({ name }) => name === ref),
    reserve(name) {
      const isFree = !names.has(name);
      names.add(name);
      return isFree;
    },
    free: (name) => void names.delete(name),
    make(name, body) {
      const id = `c${String(++count).padStart(11, '0')}`;
      return newContainer(id, name, body, images.get(body.Image ?? '') ?? {}, wall());
    },
    appear(container, body, by) {
      containers.set(container.id, container);
      watch.created(container, by, body);
    },
    run(container, by) {
      container.state = 'running';
      container.starts += 1;
      watch.started(container, by);
      tellAll('start', container);
    },
    finish(container, exitCode) {
      if (container.state !== 'running') return;
      container.state = 'exited';
      container.exitCode = exitCode;
      watch.ended(container);
      tellAll('die', container);
    },
    beginRemoval(container, by) {
      container.state = 'removing';
      watch.removed(container, by);
    },
    vanish(container) {
      containers.delete(container.id);
      names.delete(container.name);
      tellAll('destroy', container);
    },
    rename(container, name) {
      if (names.has(name)) return false;
      names.delete(container.name);
      names.add(name);
      container.name = name;
      return true;
    },
    commit: ({ labels }, image) => void images.set(image, labels),
    labelsOf: (image) => images.get(image) ?? {},
    onEvent(told) {
      listeners.add(told);
      return () => listeners.delete(told);
    },
    hangUp: () => listeners.clear(),
  };
}

function newContainer(
  id: string,
  name: string,
  { Image: image = '', Labels, HostConfig }: CreateBody,
  imageLabels: Readonly<Record<string, string>>,
  nowMs: number,
): ModelContainer {
  const cards = (HostConfig?.DeviceRequests ?? []).flatMap(({ DeviceIDs = [] }) => DeviceIDs);
  const labels = { ...imageLabels, ...Labels };
  return {
    id,
    name,
    image,
    labels,
    cards,
    created: Math.floor(nowMs / 1000),
    state: 'created',
    exitCode: 0,
    starts: 0,
  };
}
