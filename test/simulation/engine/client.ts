import type Docker from 'dockerode';
import { LABEL } from '../../../src/model/labels.js';
import type { Life } from '../process/life.js';
import type { Came, Serve, Wire } from '../process/wire.js';
import { IMAGE_ID, ok, type ListQuery } from './answers.js';
import type { Engine } from './engine.js';
import { createEventStream, type EventStream } from './event-stream.js';
import type { CreateBody, ModelContainer } from './store.js';

export interface ClientParts {
  readonly engine: Engine;
  readonly wire: Wire;
  readonly life: Life;
  /** The caller, for the watch: the life, or the person on whose request it acts. */
  readonly by: string;
  /** Called for each call that would change something, when it is sent. */
  readonly onSend: (call: Sent) => void;
  /**
   * Called for each container state in an answer, when it arrives; `closely`: it was requested specifically, not only listed
   * with all others.
   */
  readonly onTold: (life: Life, id: string, state: ToldState, closely: boolean) => void;
}

/** A call that would change something. */
export type Sent =
  | { readonly kind: 'create'; readonly life: Life; readonly by: string; readonly body: CreateBody }
  | { readonly kind: 'start' | 'remove'; readonly life: Life; readonly by: string; readonly id: string };

/** `has run`: by the answer of a start or a removal. `heard`: by an event that it was started or ended. */
export type ToldState = ModelContainer['state'] | 'has run' | 'heard' | 'removed';

/** The part of dockerode that a gate uses, over the wire to the engine in memory. */
export function engineClient(parts: ClientParts): Docker {
  const { engine, wire, life, by, onSend } = parts;
  const ask = (about: string, serve: Serve): Promise<Came> => wire.ask(life, { about, serve });
  const told = (id: string, state: ToldState, closely = true): void => parts.onTold(life, id, state, closely);

  /** Each event of the engine from now on goes into the stream, until its connection breaks. */
  const follow = (stream: EventStream): void => {
    const breakOff = (): void => {
      stop();
      close();
      stream.breakOff();
    };
    const close = wire.keepOpen(breakOff);
    const stop = engine.store.onEvent((event) => {
      const ms = wire.push(life, `event`);
      if (ms === null || life.state === 'dead') breakOff();
      else stream.write(event, ms, () => event.what !== 'destroy' && told(event.id, 'heard'));
    });
  };

  const container = (id: string) => {
    const run = engine.store.find(id)?.labels[LABEL.runId] ?? id;
    return {
      async start() {
        onSend({ kind: 'start', life, by, id });
        const came = await ask(`start ${run}`, (fate, finish) => engine.start(id, by, 5 * fate.insideMs, finish));
        if (hasStatus(came, 204, 304)) told(id, 'has run');
        return asDockerode(came);
      },
      async remove(options: { readonly force?: boolean }) {
        if (options.force === true) throw new Error(`${life.name} removes ${id} with force`);
        onSend({ kind: 'remove', life, by, id });
        const came = await ask(`remove ${run}`, (fate, finish) => engine.remove(id, by, fate.insideMs, finish));
        if (hasStatus(came, 409)) told(id, isUnderWay(came) ? 'removing' : 'has run');
        if (hasStatus(came, 204) && by === life.name) told(id, 'removed');
        return asDockerode(came);
      },
      async inspect() {
        const came = await ask(`inspect ${run}`, (_fate, finish) => engine.inspect(id, finish));
        const body = asDockerode(came) as { readonly State: { readonly Status: ToldState } };
        told(id, body.State.Status);
        return body;
      },
    };
  };

  const client = {
    async listContainers(query: ListQuery) {
      const came = await ask(aboutList(query), (_fate, finish) => engine.list(query, finish));
      const body = asDockerode(came) as readonly { readonly Id: string; readonly State: ToldState }[];
      for (const { Id, State } of body) told(Id, State, query.filters?.status === undefined);
      return body;
    },
    async createContainer(body: CreateBody) {
      onSend({ kind: 'create', life, by, body });
      const run = body.Labels?.[LABEL.runId] ?? body.name ?? '';
      const came = await ask(`create ${run}`, (fate, finish) => engine.create(body, by, fate.insideMs, finish));
      const { Id } = asDockerode(came) as { readonly Id: string };
      return { id: Id };
    },
    getContainer: container,
    async getEvents() {
      const stream = createEventStream(life);
      const serve: Serve = (_fate, finish) => {
        follow(stream);
        finish(ok(200));
      };
      asDockerode(await ask('events', serve));
      return stream;
    },
    modem: {
      // The images are always present, and checking takes no time.
      dial(request: { readonly path: string }, answered: (error: null, body: object) => void) {
        const image = decodeURIComponent(request.path).slice('/images/'.length, -'/json'.length);
        answered(null, { Id: image, Config: { Labels: engine.store.labelsOf(image.replace(IMAGE_ID, '')) } });
      },
    },
  };
  return client as unknown as Docker;
}

function aboutList({ filters = {} }: ListQuery): string {
  if (filters.id !== undefined) return 'look again';
  const label = filters.label?.[0];
  if (label !== undefined) return `list ${label.slice(label.indexOf('=') + 1)}`;
  const name = filters.name?.[0];
  return name === undefined ? 'list' : `list ${/tuneplane-(.*)\$$/.exec(name)?.[1] ?? name} by name`;
}

function hasStatus(came: Came, ...statuses: readonly number[]): boolean {
  return typeof came === 'object' && statuses.includes(came.status);
}

/** A removal is refused because another is in progress, or because the job runs. */
function isUnderWay(came: Came): boolean {
  return typeof came === 'object' && /already in progress/.test(String(came.body));
}

/** dockerode's result: the body, or an error with the fields that the real one has. */
function asDockerode(came: Came): unknown {
  if (came === 'refused') {
    const fields = { code: 'ECONNREFUSED', syscall: 'connect' };
    throw Object.assign(new Error('connect ECONNREFUSED /run/docker.sock'), fields);
  }
  if (came === 'broken') throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
  const { status, body } = came;
  if (status < 300) return body;
  const message = String(body);
  throw Object.assign(new Error(`(HTTP code ${status}) - ${message}`), { statusCode: status, json: { message } });
}
