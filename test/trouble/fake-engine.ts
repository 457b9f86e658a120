import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, linkSync, renameSync, rmSync, chmodSync } from 'node:fs';
import { createServer } from 'node:net';
import { startStrangeDocker, type StrangeAnswer } from '../support/docker/strange-docker.js';

/** A container in the fake engine; a test may add and change any at will. */
export interface EngineContainer {
  readonly Id: string;
  Names: readonly string[];
  State: string;
  Labels: Readonly<Record<string, string>>;
  /** From the create request. */
  DeviceRequests?: unknown;
  /** Epoch seconds. */
  readonly Created: number;
}

/** What an engine answers instead of the true answer; null for the true one. */
export type Misbehave = (request: string) => StrangeAnswer | null | Promise<StrangeAnswer | null>;

/** The part of a Docker Engine that an admission uses, for states and answers that no real one can be brought to. */
export interface FakeEngine {
  readonly dockerHost: string;
  readonly containers: EngineContainer[];
  /** Every request so far, `GET /containers/json?all=true`. */
  readonly requests: readonly string[];
  misbehave(how: Misbehave): void;
  behave(): void;
  /** The socket file is missing, has no listener, or denies access; until `openAgain`. */
  close(how: 'missing' | 'refused' | 'forbidden'): Promise<void>;
  openAgain(): void;
  stop(): Promise<void>;
}

export async function startFakeEngine(containers: EngineContainer[] = []): Promise<FakeEngine> {
  let how: Misbehave = () => null;
  const strange = await startStrangeDocker(
    async (line, body) => (await how(line)) ?? trueAnswer(line, body, containers),
  );
  const { socketPath } = strange;
  const aside = `${socketPath}.aside`;
  return {
    dockerHost: `unix://${socketPath}`,
    containers,
    requests: strange.requests,
    misbehave: (other) => void (how = other),
    behave: () => void (how = () => null),
    async close(way) {
      // Open connections stay open, whatever happens to the file.
      strange.hangUp();
      if (way === 'forbidden') return chmodSync(socketPath, 0o000);
      renameSync(socketPath, aside);
      if (way === 'refused') await leaveDeadSocket(socketPath);
    },
    openAgain() {
      if (existsSync(aside)) renameSync(aside, socketPath);
      chmodSync(socketPath, 0o660);
    },
    stop: () => strange.stop(),
  };
}

/** A container of another user, with the given details. */
export function engineContainer(more: Partial<EngineContainer> = {}): EngineContainer {
  const Id = randomBytes(32).toString('hex');
  const Created = Math.floor(Date.now() / 1000);
  return { Id, Names: [`/of-${Id.slice(0, 8)}`], State: 'running', Labels: {}, Created, ...more };
}

function trueAnswer(line: string, body: string, containers: EngineContainer[]): StrangeAnswer {
  const [method = '', target = ''] = line.split(' ');
  const { pathname, searchParams } = new URL(target, 'http://docker');
  const [, kind, id, what] = pathname.split('/');
  if (pathname === '/version') return says(200, { Version: '20.10.24' });
  if (pathname === '/info') return says(200, { DockerRootDir: '/var/lib/docker' });
  if (kind === 'images') return says(200, { Id: 'sha256:0' });
  if (pathname === '/containers/json') return says(200, containers.filter(fits(searchParams.get('filters'))));
  if (pathname === '/containers/create') return create(searchParams.get('name') ?? '', body, containers);

  const one = containers.find((each) => each.Id === id);
  if (one === undefined) return says(404, { message: `No such container: ${id}` });
  if (method === 'GET')
    return says(200, {
      Id: id,
      State: { Status: one.State },
      HostConfig: { DeviceRequests: one.DeviceRequests ?? null },
      Config: { Labels: one.Labels },
    });
  if (what === 'start') {
    one.State = 'running';
    return { status: 204, body: '' };
  }
  if (one.State === 'running') return says(409, { message: 'You cannot remove a running container' });
  containers.splice(containers.indexOf(one), 1);
  return { status: 204, body: '' };
}

const says = (status: number, body: unknown): StrangeAnswer => ({ status, body: JSON.stringify(body) });

function create(name: string, body: string, containers: EngineContainer[]): StrangeAnswer {
  if (containers.some(({ Names }) => Names.includes(`/${name}`))) {
    return says(409, { message: `Conflict. The container name "/${name}" is already in use` });
  }
  const { Labels, HostConfig } = JSON.parse(body) as {
    Labels: Record<string, string>;
    HostConfig: { DeviceRequests?: unknown };
  };
  const { DeviceRequests } = HostConfig;
  const made = engineContainer({ Names: [`/${name}`], State: 'created', Labels, DeviceRequests });
  containers.push(made);
  return says(201, { Id: made.Id, Warnings: [] });
}

function fits(filters: string | null): (container: EngineContainer) => boolean {
  const asked = JSON.parse(filters ?? '{}') as Partial<Record<'id' | 'label' | 'name' | 'status', string[]>>;
  const { id, label = [], name = [], status } = asked;
  return ({ Id, Labels, Names, State }) =>
    (id === undefined || id.includes(Id)) &&
    (status === undefined || status.includes(State)) &&
    label.every((pair) => Object.entries(Labels).some(([key, value]) => pair === key || pair === `${key}=${value}`)) &&
    name.every((pattern) => Names.some((each) => new RegExp(pattern).test(each)));
}

/** A socket file without a listener: what a killed engine leaves behind. */
async function leaveDeadSocket(path: string): Promise<void> {
  const server = createServer().listen(`${path}.dead`);
  await once(server, 'listening');
  linkSync(`${path}.dead`, path);
  server.close();
  await once(server, 'close');
  rmSync(`${path}.dead`, { force: true });
}
