/** What Docker's list and inspects say about a container. */

import { z } from 'zod';
import type { RunDetails } from '../../model/ports/books.js';
import { CONTAINER_STATES, holds, type ContainerState, type Pinned, type SeenContainer } from '../../model/snapshot.js';
import { shortId } from '../../text/short-id.js';
import { parseClaim, withDeviceRequest, type LabelledClaim } from '../parse-claim.js';

/** One parsed entry of Docker's list. */
export interface ListedContainer {
  readonly id: string;
  readonly name: string;
  readonly state: ContainerState;
  readonly createdAtMs: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly image: string | null;
  readonly command: string | null;
  readonly claim: LabelledClaim | null;
}

/** The result of parsing. `garbage` is a failed call, never an empty answer. */
export type Parsed<T> =
  | { readonly kind: 'parsed'; readonly value: T }
  | { readonly kind: 'garbage'; readonly detail: string };

/** The body of a list with status 200. dockerode returns a Buffer where it was not JSON, and for `null` too. */
export function parseContainerList(body: unknown): Parsed<readonly ListedContainer[]> {
  const parsed = list.safeParse(body);
  if (parsed.success) return { kind: 'parsed', value: parsed.data.map(readEntry) };
  const came = Buffer.isBuffer(body) ? `"${body.toString('utf8', 0, 80)}"` : z.prettifyError(parsed.error);
  return { kind: 'garbage', detail: `expected a list of containers from Docker, got ${came}` };
}

/**
 * Whether the list alone does not show which cards the container has: it is foreign and runs, or is a live claim without
 * uuids.
 */
export function needsInspect(listed: ListedContainer): boolean {
  if (listed.claim !== null) return listed.claim.needsInspect && holds(listed.state);
  return listed.state === 'running' || listed.state === 'paused' || listed.state === 'restarting';
}

/** A list entry combined with its inspect; `given` is `none` for those that need no inspect. */
export function toSeenContainer(listed: ListedContainer, given: Pinned): SeenContainer {
  const { id, name, state, createdAtMs, labels, image, command, claim } = listed;
  const own = claim === null ? null : withDeviceRequest(claim, given);
  // A readable claim says itself what it holds; only for others is an open question passed on.
  const pinned: Pinned = claim === null || given.kind === 'not_told' ? given : { kind: 'none' };
  return { id, name, state, outOfReach: false, createdAtMs, labels, image, command, claim: own, pinned };
}

/** How a container ended, from its inspect. */
export function parseDetails(body: unknown): Parsed<RunDetails> {
  const parsed = inspect.safeParse(body);
  if (!parsed.success) {
    return { kind: 'garbage', detail: `expected an inspect from Docker, got ${z.prettifyError(parsed.error)}` };
  }
  const state = parsed.data.State;
  const status = readState(state.Status);
  const started = moment(state.StartedAt);
  const ended = !holds(status);
  return {
    kind: 'parsed',
    value: {
      image: parsed.data.Config?.Image ?? null,
      exitCode: ended ? (state.ExitCode ?? null) : null,
      oomKilled: state.OOMKilled ?? null,
      error: state.Error === undefined || state.Error === null || state.Error === '' ? null : state.Error,
      startedAt: started,
      finishedAt: ended ? moment(state.FinishedAt) : null,
    },
  };
}

const listEntry = z.object({
  Id: z.string().min(1),
  Names: z.array(z.string()).nullish(),
  State: z.string().nullish(),
  Created: z.number().nullish(),
  Labels: z.record(z.string(), z.string()).nullish(),
  Image: z.string().nullish(),
  Command: z.string().nullish(),
});
const list = z.array(listEntry);

const runState = z.object({
  Status: z.string().nullish(),
  ExitCode: z.number().nullish(),
  OOMKilled: z.boolean().nullish(),
  Error: z.string().nullish(),
  StartedAt: z.string().nullish(),
  FinishedAt: z.string().nullish(),
});
const inspect = z.object({ State: runState, Config: z.object({ Image: z.string().nullish() }).nullish() });

function readEntry(entry: z.infer<typeof listEntry>): ListedContainer {
  const labels = entry.Labels ?? {};
  return {
    id: entry.Id,
    name: ownName(entry.Names ?? []) ?? shortId(entry.Id),
    state: readState(entry.State),
    createdAtMs: (entry.Created ?? 0) * 1000,
    labels,
    image: entry.Image ?? null,
    command: entry.Command ?? null,
    claim: parseClaim(labels),
  };
}

/** Links show up as additional names with a slash inside (`/web/db`); a container that is being removed may have none. */
function ownName(names: readonly string[]): string | null {
  const plain = names.map((name) => name.replace(/^\//, ''));
  return plain.find((name) => !name.includes('/')) ?? plain[0] ?? null;
}

/** An unknown state word of this engine counts as running: the container holds its cards and is left alone. */
function readState(word: string | null | undefined): ContainerState {
  const state = word?.toLowerCase();
  return CONTAINER_STATES.find((known) => known === state) ?? 'running';
}

/** Docker writes the year 1 for "never". */
function moment(text: string | null | undefined): string | null {
  return text === undefined || text === null || text === '' || text.startsWith('0001-') ? null : text;
}
