/**
 * A runtime in memory behind the ports Books and Hands, held to the same contract suite as Docker. Like Docker it reserves a
 * name before the container appears in a list, starts again what has ended, and answers with delays.
 */

import type { Grant, JobSpec } from '../../src/model/admission.js';
import { containerName, LABEL } from '../../src/model/labels.js';
import type { Books } from '../../src/model/ports/books.js';
import type {
  CreateAnswer,
  GiveUpAnswer,
  Hands,
  ImageAnswer,
  RemoveAnswer,
  StartAnswer,
  StopAnswer,
  StoredAnswer,
} from '../../src/model/ports/hands.js';
import type { Endings } from '../../src/model/ports/line.js';
import { holds, isAlive, type ContainerState, type Probed, type SeenContainer } from '../../src/model/snapshot.js';
import { parseClaim } from '../../src/runtime/parse-claim.js';

export interface FakeRuntime extends Books, Hands, Endings {
  /** Every container by id; a test may change them. */
  readonly containers: Map<string, SeenContainer>;
  /** Ids of containers with labels from an image committed from a job. */
  readonly copies: Set<string>;
  /** Set to a sentence to make every list fail. */
  down: string | null;
  /** Ids in the order of actual starts: twice for a container that was restarted. */
  readonly started: string[];
  /** Replace one to make an answer fail. */
  onCreate: ((spec: JobSpec) => CreateAnswer | null) | null;
  onCompare: ((id: string) => StoredAnswer) | null;
  onStart: ((id: string) => StartAnswer | Promise<StartAnswer | null> | null) | null;
  /** Called between the last check of a container and its removal. */
  beforeRemoval: ((id: string) => void) | null;
  images: (image: string) => ImageAnswer;
  end(id: string, state?: ContainerState): void;
  /** What people do to containers: rename one, remove all that are not running, restart the runtime. */
  rename(id: string, name: string): void;
  prune(): void;
  restart(): void;
}

/** `beat` is awaited between any two steps, so that a test can shuffle the order of events. */
export function fakeRuntime(beat: () => Promise<void> = async () => {}): FakeRuntime {
  const containers = new Map<string, SeenContainer>();
  const names = new Set<string>();
  /** As in Docker, operations on one container are serialized: a removal waits for a start. */
  const underWay = new Map<string, Promise<unknown>>();
  const listeners: ((id: string) => void)[] = [];
  let count = 0;

  const seen = <T>(value: T): Probed<T> => ({ kind: 'seen', value, tookMs: 1 });
  const blind = (detail: string): Probed<never> => ({ kind: 'blind', why: 'unavailable', detail, tookMs: 1 });
  const set = (id: string, state: ContainerState): void => {
    const container = containers.get(id);
    if (container) containers.set(id, { ...container, state });
  };

  const runtime: FakeRuntime = {
    containers,
    copies: new Set(),
    down: null,
    started: [],
    onCreate: null,
    onCompare: null,
    onStart: null,
    beforeRemoval: null,
    images: () => ({ kind: 'present' }),
    end(id, state = 'exited') {
      set(id, state);
      for (const listener of listeners) listener(id);
    },
    onEnd: (listener) => void listeners.push(listener),
    rename(id, name) {
      const one = containers.get(id);
      if (!one) return;
      names.delete(one.name);
      names.add(name);
      containers.set(id, { ...one, name });
    },
    prune() {
      for (const { id, name, state } of Array.from(containers.values())) {
        if (state !== 'created' && holds(state)) continue;
        containers.delete(id);
        names.delete(name);
      }
    },
    restart() {
      for (const { id, state } of Array.from(containers.values())) if (state === 'running') set(id, 'exited');
    },

    async list() {
      await beat();
      if (runtime.down) return blind(runtime.down);
      const value = { containers: [...containers.values()].filter(({ state }) => holds(state)) };
      await beat();
      return seen(value);
    },
    async listRuns() {
      await beat();
      if (runtime.down) return blind(runtime.down);
      const runs = [...containers.values()].filter(({ labels, claim }) => labels[LABEL.runId] || claim !== null);
      return seen({ containers: runs });
    },
    async findLabelled(runId) {
      await beat();
      if (runtime.down) return blind(runtime.down);
      const found = [...containers.values()].filter(({ labels }) => labels[LABEL.runId] === runId);
      await beat();
      return seen(found);
    },
    async isCopy({ id }) {
      await beat();
      return runtime.copies.has(id);
    },
    async findRun(runId) {
      await beat();
      if (runtime.down) return blind(runtime.down);
      const all = [...containers.values()];
      const found = all.filter((one) => one.labels[LABEL.runId] === runId || one.name === containerName(runId));
      await beat();
      return seen(found);
    },
    async describe(container) {
      await beat();
      if (runtime.down) return blind(runtime.down);
      const now = containers.get(container.id);
      if (!now) return seen(null);
      const ended = now.state === 'exited';
      return seen({ exitCode: ended ? 0 : null, oomKilled: false, error: null, startedAt: null, finishedAt: null });
    },

    async ensureImage(image) {
      await beat();
      return runtime.images(image);
    },
    async create(spec: JobSpec, grant: Grant): Promise<CreateAnswer> {
      await beat();
      const wrong = runtime.onCreate?.(spec);
      if (wrong) return wrong;
      const name = containerName(spec.runId);
      if (names.has(name)) return { kind: 'name_taken', daemonMessage: `the name ${name} is in use` };
      names.add(name);
      await beat();
      const id = `c${String(++count).padStart(11, '0')}`;
      containers.set(id, container(id, name, spec, grant));
      await beat();
      return { kind: 'created', id };
    },
    async compare(id) {
      await beat();
      return runtime.onCompare?.(id) ?? { kind: 'as_asked' };
    },
    start(id): Promise<StartAnswer> {
      const before = underWay.get(id);
      const mine = before === undefined ? startNow(id) : before.then(() => startNow(id));
      underWay.set(
        id,
        mine.catch(() => undefined),
      );
      return mine;
    },
    async remove(id, only): Promise<RemoveAnswer> {
      await beat();
      const one = containers.get(id);
      if (!one) return { kind: 'gone' };
      const mayGo = only === 'created' ? one.state === 'created' : !holds(one.state);
      if (!mayGo && one.state !== 'removing') return { kind: 'left', state: one.state };
      // As with a real runtime, a change between check and removal goes unnoticed, unless the container runs.
      await beat();
      await underWay.get(id);
      runtime.beforeRemoval?.(id);
      const now = containers.get(id);
      if (!now) return { kind: 'gone' };
      if (now.state === 'running') return { kind: 'left', state: 'running' };
      containers.delete(id);
      await beat();
      names.delete(now.name);
      const hadRun = only === 'created' && now.state === 'exited';
      return hadRun ? { kind: 'had_run', container: one, exitCode: 0 } : { kind: 'removed' };
    },
    async stop(id): Promise<StopAnswer> {
      await beat();
      const one = containers.get(id);
      if (!one) return { kind: 'gone' };
      if (!isAlive(one.state)) return { kind: 'ended' };
      set(id, 'exited');
      return { kind: 'stopping' };
    },
    async output({ id }) {
      await beat();
      if (!containers.has(id)) return { kind: 'gone' };
      return { kind: 'stream', stream: linesOf(id) };
    },
    async giveUp(id): Promise<GiveUpAnswer> {
      await beat();
      const one = containers.get(id);
      if (!one) return { kind: 'gone' };
      if (!one.outOfReach) return { kind: 'in_reach', why: `${one.name} is ${one.state}` };
      containers.delete(id);
      await beat();
      names.delete(one.name);
      return { kind: 'given_up' };
    },
  };

  async function startNow(id: string): Promise<StartAnswer> {
    await beat();
    const wrong = await runtime.onStart?.(id);
    if (wrong) return wrong;
    const one = containers.get(id);
    if (!one || one.state === 'removing') return { kind: 'gone', daemonMessage: `no such container: ${id}` };
    if (one.state !== 'running') {
      set(id, 'running');
      runtime.started.push(id);
    }
    await beat();
    return { kind: 'started' };
  }

  return runtime;
}

function container(id: string, name: string, spec: JobSpec, grant: Grant): SeenContainer {
  const uuids = grant.cards.flatMap(({ uuid }) => (uuid === null ? [] : [uuid]));
  const indices = grant.cards.flatMap(({ index }) => (index === null ? [] : [index]));
  const labels = {
    ...spec.container.labels,
    [LABEL.runId]: spec.runId,
    [LABEL.gpus]: indices.join(','),
    [LABEL.gpuUuids]: uuids.join(','),
    [LABEL.specSha256]: spec.specSha256,
    [LABEL.admittedBy]: grant.admittedBy,
    [LABEL.admittedAt]: grant.admittedAt,
    [LABEL.principal]: grant.principal,
    [LABEL.delegate]: grant.delegate,
    [LABEL.life]: grant.life,
  };
  return {
    id,
    name,
    state: 'created',
    outOfReach: false,
    createdAtMs: Date.parse(grant.admittedAt),
    labels,
    claim: parseClaim(labels)?.cards ?? null,
    pinned: { kind: 'none' },
  };
}

async function* linesOf(id: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`output of ${id}\n`);
}
