import { describe, expect, test } from 'vitest';
import { createHeldRequests, type HeldRequests } from '../../src/line/held-requests.js';
import type { Place } from '../../src/model/line.js';
import type { Occupancy } from '../../src/model/occupancy.js';
import type { Clock } from '../../src/model/ports/outside.js';
import { card, claim, watched } from '../metrics/occupancies.js';
import { createTimeline } from '../simulation/process/timeline.js';
import { nobodyGone } from '../support/admissions.js';

/** A clock of ours that moves when it is told to. */
function handTimers(): Clock & { forward(ms: number): Promise<void> } {
  const timeline = createTimeline();
  let until = 0;
  return {
    now: () => until,
    monotonic: () => until,
    after: (ms, act) => timeline.after(until - timeline.now + ms, act),
    async forward(ms) {
      for (const end = until + ms; ;) {
        if (!timeline.step(end)) {
          until = end;
          return;
        }
        until = timeline.now;
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}

const place = (runId: string, count = 1, but: Partial<Place> = {}): Place => ({
  runId,
  count,
  specSha256: 'hash',
  principal: 'ada',
  image: 'train',
  labels: {},
  since: '2026-11-29T12:00:00.000Z',
  waitedMs: 0,
  imageHere: true,
  ...but,
});

const heldCard = (index: number, runId: string) => card(index, { state: 'job_held', claims: [claim(runId)] });
const full = (): Occupancy => watched([heldCard(0, 'one'), heldCard(1, 'two')]).occupancy;

interface Tried {
  readonly held: HeldRequests;
  readonly clock: ReturnType<typeof handTimers>;
  readonly woken: string[];
  readonly looks: () => number;
  occupancy: Occupancy;
  hold(runId: string, ms?: number, gone?: AbortSignal): void;
}

function tried(places: readonly Place[]): Tried {
  const clock = handTimers();
  const woken: string[] = [];
  let looks = 0;
  const self: Tried = {
    clock,
    woken,
    looks: () => looks,
    occupancy: full(),
    held: createHeldRequests({
      clock,
      log: { error: (data) => expect.unreachable(JSON.stringify(data)) },
      places: () => places,
      rules: { admitWhenBlind: false, reserveAfterMs: null },
      observer: {
        fresh: async () => {
          looks += 1;
          return { occupancy: self.occupancy, snapshot: watched([]).snapshot };
        },
      },
    }),
    hold(runId, ms = 300_000, gone = nobodyGone()) {
      void self.held.hold(runId, ms, gone).then(() => woken.push(runId));
    },
  };
  self.held.looked(self.occupancy);
  return self;
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('a held request', () => {
  test('is woken at once when a container has ended that held what it needs, and those behind it are not', async () => {
    const it = tried([place('first'), place('second')]);
    it.hold('first');
    it.hold('second');
    it.held.containerEnded('id-of-tuneplane-one');
    await settle();
    expect(it.woken).toEqual(['first']);
    expect(it.looks()).toBe(0);
  });

  test('is woken for what ended while it was being decided, once', async () => {
    const it = tried([place('first')]);
    it.held.containerEnded('id-of-tuneplane-one');
    it.hold('first');
    await settle();
    expect(it.woken).toEqual(['first']);
    // The look that follows shows the card held all the same.
    it.hold('first');
    await settle();
    expect(it.woken).toEqual(['first']);
  });

  test('is left alone when what ended does not make room for it', async () => {
    const it = tried([place('big', 2)]);
    it.hold('big');
    it.held.containerEnded('id-of-tuneplane-one');
    await settle();
    expect(it.woken).toEqual([]);
    it.held.containerEnded('id-of-tuneplane-two');
    await settle();
    expect(it.woken).toEqual(['big']);
  });

  test('is looked for again after half a second, one and two: memory of a job may linger', async () => {
    const it = tried([place('big', 2)]);
    it.hold('big');
    it.held.containerEnded('id-of-a-container-that-held-nothing');
    await it.clock.forward(499);
    expect(it.looks()).toBe(0);
    await it.clock.forward(2000);
    expect(it.looks()).toBe(3);
    expect(it.woken).toEqual([]);
  });

  test('is looked for every 5 s besides, since not everything is told by an event', async () => {
    const it = tried([place('first')]);
    it.hold('first');
    await it.clock.forward(4999);
    it.occupancy = watched([card(0), heldCard(1, 'two')]).occupancy;
    expect(it.woken).toEqual([]);
    await it.clock.forward(1);
    expect(it.woken).toEqual(['first']);
    await it.clock.forward(20_000);
    expect(it.looks()).toBe(1);
  });

  test('is woken when a place before it has ended', async () => {
    const places = [place('silent'), place('first')];
    const it = tried(places);
    it.held.looked(watched([card(0)]).occupancy);
    it.hold('first');
    it.held.placeEnded();
    await settle();
    expect(it.woken).toEqual([]);
    places.shift();
    it.held.placeEnded();
    await settle();
    expect(it.woken).toEqual(['first']);
  });

  test('is woken now and then while its image is not here, since no look speaks of that', async () => {
    const it = tried([place('first', 1, { imageHere: false })]);
    it.hold('first');
    await it.clock.forward(5000);
    expect(it.woken).toEqual(['first']);
  });

  test('ends with its time, with its caller, and with the gate', async () => {
    const it = tried([place('first')]);
    it.hold('first', 1000);
    await it.clock.forward(1000);
    expect(it.woken).toEqual(['first']);
    const caller = new AbortController();
    it.hold('first', 1000, caller.signal);
    caller.abort();
    await settle();
    expect(it.woken).toHaveLength(2);
    it.hold('first');
    it.hold('first');
    expect(it.held.count).toBe(2);
    it.held.wakeAll();
    await settle();
    expect(it.woken).toHaveLength(4);
    expect(it.held.count).toBe(0);
  });
});
