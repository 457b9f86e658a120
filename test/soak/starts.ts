/** Counts the starts of each container, from the engine's own events. */

import { setTimeout as sleep } from 'node:timers/promises';
import type Docker from 'dockerode';
import { z } from 'zod';

export interface Starts {
  /** Sentences about containers that were started more than once. */
  again(): readonly string[];
  /** How often a container of this run was started. */
  readonly ofRuns: ReadonlyMap<string, number>;
  readonly total: number;
  stop(): Promise<void>;
}

const startEvent = z.object({
  Action: z.literal('start'),
  timeNano: z.number(),
  Actor: z.object({ ID: z.string(), Attributes: z.record(z.string(), z.string()) }),
});

/** Follows the engine for the whole storm; while it is down nothing starts, and missed events are requested afterwards. */
export function countStarts(docker: Docker): Starts {
  const ofIds = new Map<string, { readonly name: string; readonly moments: Set<number> }>();
  const ofRuns = new Map<string, number>();
  const closing = new AbortController();
  let since = Math.floor(Date.now() / 1000);

  function read(line: string): void {
    const parsed = startEvent.safeParse(JSON.parse(line));
    if (!parsed.success) return;
    const { timeNano, Actor } = parsed.data;
    since = Math.floor(timeNano / 1e9);
    const one = ofIds.get(Actor.ID) ?? { name: Actor.Attributes['name'] ?? Actor.ID, moments: new Set() };
    ofIds.set(Actor.ID, one);
    // Requested from the second of the interruption on, so that an event may come twice.
    if (one.moments.has(timeNano)) return;
    one.moments.add(timeNano);
    const runId = Actor.Attributes['tuneplane.run_id'];
    if (runId !== undefined) ofRuns.set(runId, (ofRuns.get(runId) ?? 0) + 1);
  }

  async function follow(): Promise<void> {
    const filters = { type: ['container'], event: ['start'] };
    const stream = await docker.getEvents({ filters, since, abortSignal: closing.signal } as object);
    let rest = '';
    for await (const chunk of stream) {
      const lines = `${rest}${String(chunk)}`.split('\n');
      rest = lines.pop() ?? '';
      lines.filter((line) => line !== '').forEach(read);
    }
  }

  const following = (async () => {
    while (!closing.signal.aborted) {
      await follow().catch(() => {});
      await sleep(100);
    }
  })();

  return {
    again: () =>
      [...ofIds.values()]
        .filter(({ moments }) => moments.size > 1)
        .map(({ name, moments }) => `${name} was started ${moments.size} times`),
    ofRuns,
    get total() {
      return [...ofIds.values()].reduce((sum, { moments }) => sum + moments.size, 0);
    },
    async stop() {
      closing.abort();
      await following;
    },
  };
}
