import type Docker from 'dockerode';
import { askDocker, type Asked } from '../../docker/ask-docker.js';
import { inWords } from '../../docker/errors.js';
import { createTroubleLog } from '../../log/trouble-log.js';
import { containerName, LABEL } from '../../model/labels.js';
import type { Books } from '../../model/ports/books.js';
import type { Clock, Log } from '../../model/ports/outside.js';
import type { BlindReason, Probed, SeenContainer } from '../../model/snapshot.js';
import { createCardsGiven } from './cards-given.js';
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
  /** For a whole list, its body included. */
  readonly listTimeoutMs?: number;
  /** For the inspects of one look together; what has not answered by then is not told. */
  readonly inspectTimeoutMs?: number;
}

/** The containers are the books: who holds which card, as Docker tells it now. Nothing is kept but answered inspects. */
export function createDockerBooks(options: DockerBooksOptions): Books {
  const { docker, clock, log, listTimeoutMs = 10_000, inspectTimeoutMs = 1000 } = options;
  const trouble = createTroubleLog(log, clock, 'Docker');
  const given = createCardsGiven({ docker, clock, inspectTimeoutMs });

  const list = (query: object) =>
    askDocker(listTimeoutMs, (abortSignal) => docker.listContainers({ all: true, ...query, abortSignal }), clock);

  const complete = async (listed: readonly ListedContainer[]): Promise<readonly SeenContainer[]> => {
    const told = await given.ask(listed.filter(needsInspect).map((one) => one.id));
    return listed.map((one) => toSeenContainer(one, told.get(one.id) ?? { kind: 'none' }));
  };

  return {
    async list() {
      const began = clock.monotonic();
      const listed = read(await list({}), parseContainerList);
      trouble.note(listed.kind === 'blind' ? listed.detail : null);
      if (listed.kind === 'blind') return { ...listed, tookMs: clock.monotonic() - began };
      given.keepOnly(listed.value.map((one) => one.id));
      const containers = await complete(listed.value);
      return { kind: 'seen', value: { containers }, tookMs: clock.monotonic() - began };
    },

    async findRun(runId) {
      const began = clock.monotonic();
      const name = containerName(runId);
      const answers = await Promise.all([
        list({ filters: { label: [`${LABEL.runId}=${runId}`] } }),
        // Docker takes the name for a pattern, and older engines match it with the slash.
        list({ filters: { name: [`^/?${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`] } }),
      ]);
      const found = new Map<string, ListedContainer>();
      for (const answer of answers) {
        const listed = read(answer, parseContainerList);
        if (listed.kind === 'blind') return { ...listed, tookMs: clock.monotonic() - began };
        for (const one of listed.value) {
          if (one.labels[LABEL.runId] === runId || one.name === name) found.set(one.id, one);
        }
      }
      const value = await complete([...found.values()]);
      return { kind: 'seen', value, tookMs: clock.monotonic() - began };
    },

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
  };
}

/** An answer that was understood, or why not in the words of the probes; `tookMs` is the caller's to fill in. */
function read<T>(asked: Asked<unknown>, parse: (body: unknown) => Parsed<T>): Probed<T> {
  if (asked.kind !== 'answer') {
    const why: BlindReason = asked.kind === 'timeout' ? 'timeout' : 'unavailable';
    return { kind: 'blind', why, detail: inWords(asked), tookMs: 0 };
  }
  const parsed = parse(asked.value);
  if (parsed.kind === 'garbage') return { kind: 'blind', why: 'parse', detail: parsed.detail, tookMs: 0 };
  return { kind: 'seen', value: parsed.value, tookMs: 0 };
}
