/** The one clock of a history and all scheduled events, in order of time. Nothing here waits for real time. */
export interface Timeline {
  /** Milliseconds since the history began. */
  readonly now: number;
  /** Schedules `act` in `ms` from now; events at the same moment keep their order. Returns the function that cancels it. */
  after(ms: number, act: () => void): () => void;
  /** Advances the time to the next event and executes it. False when none is left, or none before `until`. */
  step(until: number): boolean;
}

interface Happening {
  readonly at: number;
  readonly order: number;
  act: (() => void) | null;
}

export function createTimeline(): Timeline {
  const heap: Happening[] = [];
  let now = 0;
  let order = 0;

  return {
    get now() {
      return now;
    },
    after(ms, act) {
      const happening: Happening = { at: now + Math.max(0, ms), order: order++, act };
      push(heap, happening);
      return () => {
        happening.act = null;
      };
    },
    step(until) {
      for (;;) {
        const next = heap[0];
        if (next === undefined || next.at > until) return false;
        pop(heap);
        if (next.act === null) continue;
        now = next.at;
        next.act();
        return true;
      }
    },
  };
}

// ---- a binary heap: the next event is at its top
// ---------------------------------------------------------------------------

function push(heap: Happening[], one: Happening): void {
  let at = heap.length;
  while (at > 0) {
    const above = (at - 1) >> 1;
    if (isBefore(heap[above]!, one)) break;
    heap[at] = heap[above]!;
    at = above;
  }
  heap[at] = one;
}

function pop(heap: Happening[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let at = 0;
  for (;;) {
    let below = 2 * at + 1;
    if (below >= heap.length) break;
    if (below + 1 < heap.length && isBefore(heap[below + 1]!, heap[below]!)) below += 1;
    if (isBefore(last, heap[below]!)) break;
    heap[at] = heap[below]!;
    at = below;
  }
  heap[at] = last;
}

function isBefore(one: Happening, other: Happening): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}
