/** An engine's answers: the statuses and messages of Docker 20.10, and the parts of its bodies that are read. */

import type { Answer } from '../process/wire.js';
import type { ModelContainer } from './store.js';

export interface ListQuery {
  readonly all?: boolean;
  readonly filters?: {
    readonly label?: readonly string[];
    readonly name?: readonly string[];
    readonly status?: readonly string[];
    readonly id?: readonly string[];
  };
}

export function ok(status: number, body: unknown = ''): Answer {
  return { status, body };
}

export function missing(id: string): Answer {
  return failed(404, `No such container: ${id}`);
}

export function conflict(words: string): Answer {
  return failed(409, words);
}

export function nameTaken(name: string): Answer {
  return conflict(`Conflict. The container name "/${name}" is already in use`);
}

export function running(id: string): Answer {
  return conflict(`You cannot remove a running container ${id}. Stop the container before attempting removal`);
}

export function notModified(): Answer {
  return failed(304, 'container already started');
}

export function failed(status: number, words: string): Answer {
  return { status, body: words };
}

/** Labels are combined by AND, states and names by OR. Without `all`, only running containers. */
export function matches(container: ModelContainer, { all = false, filters = {} }: ListQuery): boolean {
  const { label = [], name = [], status = [], id = [] } = filters;
  return (
    (all || status.length > 0 || container.state === 'running') &&
    (status.length === 0 || status.includes(container.state)) &&
    (id.length === 0 || id.some((start) => container.id.startsWith(start))) &&
    (name.length === 0 || name.some((pattern) => new RegExp(pattern).test(`/${container.name}`))) &&
    label.every((pair) => carries(container.labels, pair))
  );
}

function carries(labels: Readonly<Record<string, string>>, pair: string): boolean {
  const at = pair.indexOf('=');
  return at < 0 ? labels[pair] !== undefined : labels[pair.slice(0, at)] === pair.slice(at + 1);
}

export function listed(container: ModelContainer): object {
  return {
    Id: container.id,
    Names: [`/${container.name}`],
    Image: container.image,
    State: container.state,
    Created: container.created,
    Labels: container.labels,
  };
}

export function inspected(container: ModelContainer): object {
  const { state, exitCode, starts } = container;
  return {
    Id: container.id,
    Name: `/${container.name}`,
    Image: `${IMAGE_ID}${container.image}`,
    State: {
      Status: state,
      Running: state === 'running',
      ExitCode: exitCode,
      OOMKilled: false,
      Error: '',
      StartedAt: starts === 0 ? NEVER : SOME_MOMENT,
      FinishedAt: state === 'exited' ? SOME_MOMENT : NEVER,
    },
    Config: { Image: container.image, Labels: container.labels, Env: [] },
    HostConfig: {
      DeviceRequests: [{ Driver: 'nvidia', Count: 0, DeviceIDs: container.cards, Capabilities: [['gpu']] }],
    },
  };
}

/** In this engine an image's id is this plus its name. */
export const IMAGE_ID = 'sha256:';
const NEVER = '0001-01-01T00:00:00Z';
const SOME_MOMENT = '2026-11-29T12:00:00Z';
