/** Containers as Docker lists and inspects them, given by a case and read by the real books over a socket. */

import { onTestFinished } from 'vitest';
import type { Books } from '../../src/model/ports/books.js';
import { createDockerBooks } from '../../src/runtime/docker/books.js';
import { systemClock } from '../../src/time/system-clock.js';
import { quietLog } from '../support/admissions.js';
import { startStrangeDocker } from '../support/docker/strange-docker.js';

/** One container; omitted fields are those of a plain running one. */
export interface Listed {
  readonly id: string;
  readonly state?: string;
  readonly labels?: Readonly<Record<string, string>> | null;
  readonly host?: Readonly<Record<string, unknown>>;
  readonly env?: readonly string[];
}

/** The books that list these, until the test has ended; `list` may be changed between two looks. */
export interface ListedBooks {
  list: readonly Listed[];
  readonly books: Books;
  /** Every request to Docker: `GET /containers/json?…`. */
  readonly requests: readonly string[];
}

export async function listedContainers(first: readonly Listed[]): Promise<ListedBooks> {
  const server = await startStrangeDocker((request) => {
    const id = /^GET \/(?:v[\d.]+\/)?containers\/(\w+)\/json/.exec(request)?.[1];
    const body =
      id === undefined
        ? self.list.filter(isAskedFor(request)).map(entry)
        : inspected(self.list.find((each) => each.id === id));
    return { status: 200, body: JSON.stringify(body) };
  });
  onTestFinished(() => server.stop());
  const self: ListedBooks = {
    list: first,
    books: createDockerBooks({ docker: server.docker, clock: systemClock, log: quietLog }),
    requests: server.requests,
  };
  return self;
}

/** Filters like the engine: by status, if the request names any. */
function isAskedFor(request: string): (listed: Listed) => boolean {
  const asked = /[?&]filters=([^& ]+)/.exec(request)?.[1];
  const { status } = JSON.parse(decodeURIComponent(asked ?? '{}')) as { status?: readonly string[] };
  return ({ state = 'running' }) => status === undefined || status.includes(state);
}

function entry({ id, state = 'running', labels = {} }: Listed, nth: number): object {
  return { Id: id, Names: [`/${id}`], State: state, Created: 1_764_000_000 + nth, Labels: labels };
}

function inspected(listed: Listed | undefined): object {
  return { Config: { Env: listed?.env ?? [] }, HostConfig: listed?.host ?? {} };
}
