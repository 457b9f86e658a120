import type { Life } from '../process/life.js';
import type { EngineEvent } from './store.js';

/** A stream of events as dockerode returns it, as far as a gate reads it: lines of JSON, in order, until it breaks. */
export interface EventStream extends AsyncIterable<string> {
  setEncoding(encoding: string): void;
  /** Delivers an event to the process, no earlier than the ones before it. */
  write(event: EngineEvent, ms: number, arrives: () => void): void;
  /** No more events follow, and the reader gets an error. */
  breakOff(): void;
}

export function createEventStream(life: Life): EventStream {
  const arrived: string[] = [];
  let broken = false;
  let lastAt = 0;
  let wake = (): void => {};

  async function* read(): AsyncGenerator<string> {
    for (;;) {
      const line = arrived.shift();
      if (line !== undefined) yield line;
      else if (broken) throw Object.assign(new Error('aborted'), { code: 'ECONNRESET' });
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  }

  return {
    [Symbol.asyncIterator]: read,
    setEncoding: () => {},
    write(event, ms, arrives) {
      if (broken) return;
      const now = life.clock.monotonic();
      lastAt = Math.max(lastAt, now + ms);
      life.deliver(lastAt - now, () => {
        // What is still on its way when the connection breaks is lost with it.
        if (broken) return;
        arrives();
        arrived.push(lineOf(event));
        wake();
      });
    },
    breakOff() {
      if (broken) return;
      broken = true;
      life.deliver(0, () => wake());
    },
  };
}

function lineOf({ what, id, exitCode }: EngineEvent): string {
  const Attributes = exitCode === null ? {} : { exitCode: String(exitCode) };
  return `${JSON.stringify({ Type: 'container', Action: what, Actor: { ID: id, Attributes } })}\n`;
}
