/** The path of a call from a process to a server and back; each call has a name, which determines its fate. */

import type { Fate, Fates } from './fates.js';
import type { Life } from './life.js';
import type { Timeline } from './timeline.js';

export interface Answer {
  /** As in HTTP. */
  readonly status: number;
  /** The body; for a refusal its message. */
  readonly body: unknown;
}

/** How a server handles a call; it may call `finish` at once or later. */
export type Serve = (fate: Fate, finish: (answer: Answer) => void) => void;

/** A call as it is reported. */
export interface Call {
  /** Its kind and subject: `create X`. The n-th such call of a life always has the same fate. */
  readonly about: string;
  readonly serve: Serve;
}

export interface Server {
  /** Nobody listens. */
  readonly down: boolean;
  /** It accepts calls but handles none before this moment of the timeline. */
  readonly stalledUntil: number;
}

export interface WireParts {
  /** The name of the server, for the story. */
  readonly name: 'engine' | 'Redis';
  readonly server: Server;
  readonly timeline: Timeline;
  readonly fates: Fates;
  readonly onMishap: (life: Life, mishap: NonNullable<Fate['process']>, call: string) => void;
  readonly told: WireStory;
}

/** Called for each call: when it is sent, and when its answer, or the lack of it, has arrived. */
export interface WireStory {
  sent(life: Life, server: string, about: string, fate: Fate): void;
  came(life: Life, server: string, about: string, came: Came): void;
}

/** The result of a call. `refused`: nobody listens. `broken`: the connection broke, and the outcome is unknown. */
export type Came = Answer | 'refused' | 'broken';

export interface Wire {
  /** Settles when the answer reaches the process; perhaps never. */
  ask(life: Life, call: Call): Promise<Came>;
  /** A message from the server: arrives after so many milliseconds, or null: the connection breaks. */
  push(life: Life, about: string): number | null;
  /** A connection that stays open: calls back when it breaks. Returns the function that closes it. */
  keepOpen(cut: () => void): () => void;
  /** Breaks every connection: what has not reached the server never will. */
  cutAll(): void;
  /** Calls that the server has not finished yet. */
  readonly underWay: number;
}

const REFUSED_MS = 0.2;

export function createWire({ name, server, timeline, fates, onMishap, told }: WireParts): Wire {
  const times = new Map<string, number>();
  const open = new Set<() => void>();
  let underWay = 0;

  function nameOf(life: Life, about: string): string {
    const kind = `${life.name} ${about}`;
    const nth = (times.get(kind) ?? 0) + 1;
    times.set(kind, nth);
    return nth === 1 ? kind : `${kind} #${nth}`;
  }

  return {
    ask(life, { about, serve }) {
      const call = nameOf(life, about);
      const fate = fates(call);
      told.sent(life, name, about, fate);
      return new Promise((resolve) => {
        let over = false;
        let isDone = false;
        const cut = (): void => {
          doneWith();
          end('broken', 0);
        };
        const doneWith = (): void => {
          if (!isDone) underWay -= 1;
          isDone = true;
        };
        const end = (came: Came, ms: number): void => {
          if (over) return;
          over = true;
          open.delete(cut);
          life.deliver(ms, () => {
            told.came(life, name, about, came);
            resolve(came);
          });
        };
        const arrive = (): void => {
          if (over) return;
          if (server.stalledUntil > timeline.now) {
            timeline.after(server.stalledUntil - timeline.now, arrive);
          } else if (fate.end === 'cut_before') cut();
          else if (fate.end === 'fails') done({ status: 500, body: 'something failed' });
          else serve(fate, done);
          if (fate.end === 'cut_amid') end('broken', fate.backMs);
        };
        const done = (answer: Answer): void => {
          if (isDone) return;
          doneWith();
          if (fate.process?.when === 'done') onMishap(life, fate.process, call);
          if (fate.end !== 'silent') end(fate.end === 'cut_after' ? 'broken' : answer, fate.backMs);
        };

        if (server.down) return end('refused', REFUSED_MS);
        open.add(cut);
        underWay += 1;
        timeline.after(fate.thereMs, arrive);
        if (fate.process?.when === 'sent') onMishap(life, fate.process, call);
      });
    },
    push(life, about) {
      const { thereMs, backMs, end } = fates(nameOf(life, about));
      return end === 'answered' ? thereMs + backMs : null;
    },
    keepOpen(cut) {
      open.add(cut);
      return () => open.delete(cut);
    },
    cutAll() {
      for (const cut of Array.from(open)) cut();
    },
    get underWay() {
      return underWay;
    },
  };
}
