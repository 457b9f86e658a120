import type Docker from 'dockerode';
import { askDocker, type Asked } from '../../docker/ask-docker.js';
import { inWords } from '../../docker/errors.js';
import { createTroubleLog } from '../../log/trouble-log.js';
import { containerName, LABEL } from '../../model/labels.js';
import type { Books } from '../../model/ports/books.js';
import type { Clock, Log } from '../../model/ports/outside.js';
import { CONTAINER_STATES, holds, type BlindReason, type Probed, type SeenContainer } from '../../model/snapshot.js';
import { createCardsGiven } from './cards-given.js';
import { createIsCopy } from './copies.js';
import { createOutput } from './output.js';
import {
  needsInspect,
  parseContainerList,
  parseDetails,
  toSeenContainer,
  type ListedContainer,
  type Parsed,
} from './parse-containers.js';

export interface DockerBooksOptions {
  readonly docker: Docker;
  readonly clock: Clock;
  readonly log: Log;
  /** For a complete list request, the response's body included. */
  readonly listTimeoutMs?: number;
  /** For all inspects of one snapshot together; unanswered ones are reported as unknown. */
  readonly inspectTimeoutMs?: number;
}

/** Who holds which card, as Docker lists it now. Only inspect results are cached. */
export function createDockerBooks(options: DockerBooksOptions): Books {
  const { docker, clock, log, listTimeoutMs = 10_000, inspectTimeoutMs = 1000 } = options;
  const trouble = createTroubleLog(log, clock, 'Docker');
  const given = createCardsGiven({ docker, clock, inspectTimeoutMs });

  const ask = (filters: Record<string, readonly string[]>) =>
    askDocker(
      listTimeoutMs,
      (abortSignal) => docker.listContainers({ all: true, filters: filters as Record<string, string[]>, abortSignal }),
      clock,
    );

  const complete = async (listed: readonly ListedContainer[]): Promise<readonly SeenContainer[]> => {
    const pinned = await given.ask(listed.filter(needsInspect).map((one) => one.id));
    return listed.map((one) => toSeenContainer(one, pinned.get(one.id) ?? { kind: 'none' }));
  };

  /**
   * One list request per filter value, in parallel, since Docker joins the values of a filter by AND; if one fails, all
   * count as blind.
   */
  const listAll = async (
    ...filters: readonly Record<string, readonly string[]>[]
  ): Promise<Probed<readonly ListedContainer[]>> => {
    const began = clock.monotonic();
    const found = new Map<string, ListedContainer>();
    for (const answer of await Promise.all(filters.map(ask))) {
      const listed = read(answer, parseContainerList);
      if (listed.kind === 'blind') return { ...listed, tookMs: clock.monotonic() - began };
      for (const one of listed.value) found.set(one.id, one);
    }
    return { kind: 'seen', value: [...found.values()], tookMs: clock.monotonic() - began };
  };

  const completed = async (listed: Probed<readonly ListedContainer[]>): Promise<Probed<readonly SeenContainer[]>> =>
    listed.kind === 'blind' ? listed : { ...listed, value: await complete(listed.value) };

  return {
    async list() {
      const began = clock.monotonic();
      const listed = await listAll({ status: LIVING });
      trouble.note(listed.kind === 'blind' ? listed.detail : null);
      if (listed.kind === 'blind') return listed;
      given.keepOnly(listed.value.map((one) => one.id));
      const containers = await complete(listed.value);
      return { kind: 'seen', value: { containers }, tookMs: clock.monotonic() - began };
    },

    async listRuns() {
      const labels = [LABEL.runId, LABEL.gpus, LABEL.gpuUuids];
      const runs = await completed(await listAll(...labels.map((label) => ({ label: [label] }))));
      return runs.kind === 'blind' ? runs : { ...runs, value: { containers: runs.value } };
    },

    async findRun(runId) {
      const name = containerName(runId);
      // Docker takes the name for a pattern, and older engines match it with the slash.
      const named = { name: [`^/?${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`] };
      const listed = await listAll(labelled(runId), named);
      if (listed.kind === 'blind') return listed;
      const ofRun = listed.value.filter((one) => one.labels[LABEL.runId] === runId || one.name === name);
      return completed({ ...listed, value: ofRun });
    },

    findLabelled: async (runId) => completed(await listAll(labelled(runId))),

    async describe(container) {
      const began = clock.monotonic();
      const asked = await askDocker(
        inspectTimeoutMs,
        (abortSignal) => docker.getContainer(container.id).inspect({ abortSignal }),
        clock,
      );
      const tookMs = clock.monotonic() - began;
      if (asked.kind === 'answered' && asked.status === 404) return { kind: 'seen', value: null, tookMs };
      const details = read(asked, parseDetails);
      return details.kind === 'blind' ? { ...details, tookMs } : { kind: 'seen', value: details.value, tookMs };
    },

    output: createOutput({ docker, clock }),

    isCopy: createIsCopy({ docker, clock, inspectTimeoutMs }),
  };
}

function labelled(runId: string): { readonly label: readonly string[] } {
  return { label: [`${LABEL.runId}=${runId}`] };
}

/**
 * The states that hold cards. The engine filters by them, so that the cost depends on live containers only. A state that a
 * later engine adds cannot be listed here: an engine refuses a filter with a word that it does not know.
 */
const LIVING = CONTAINER_STATES.filter(holds);

/** A parsed answer, or the reason for its absence in the probes' terms; the caller fills in `tookMs`. */
function read<T>(asked: Asked<unknown>, parse: (body: unknown) => Parsed<T>): Probed<T> {
  if (asked.kind !== 'answer') {
    const why: BlindReason = asked.kind === 'timeout' ? 'timeout' : 'unavailable';
    return { kind: 'blind', why, detail: inWords(asked), tookMs: 0 };
  }
  const parsed = parse(asked.value);
  if (parsed.kind === 'garbage') return { kind: 'blind', why: 'parse', detail: parsed.detail, tookMs: 0 };
  return { kind: 'seen', value: parsed.value, tookMs: 0 };
}
