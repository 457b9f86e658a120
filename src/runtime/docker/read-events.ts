/** Parses Docker's stream of container events. */

import type { Readable } from 'node:stream';
import { z } from 'zod';

export interface ContainerEvent {
  readonly id: string;
  readonly what: 'start' | 'die' | 'destroy';
  /** For `die`; null where unknown. */
  readonly exitCode: number | null;
}

/** Longer than any event: so much data without a newline is no event stream. */
const LONGEST_LINE = 1 << 20;

/**
 * Reads one JSON object per line until the stream ends, and skips lines that are no container events. Rejects if the stream
 * fails.
 */
export async function readEvents(stream: Readable, onEvent: (event: ContainerEvent) => void): Promise<void> {
  let rest = '';
  stream.setEncoding('utf8');
  for await (const chunk of stream) {
    const lines = `${rest}${String(chunk)}`.split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > LONGEST_LINE) throw new Error(`a line of more than ${LONGEST_LINE} characters`);
    for (const line of lines) {
      const event = parseEvent(line);
      if (event !== null) onEvent(event);
    }
  }
}

export function parseEvent(line: string): ContainerEvent | null {
  const parsed = eventLine.safeParse(asJson(line));
  if (!parsed.success) return null;
  const { Action: what, Actor } = parsed.data;
  const exitCode = Number(Actor.Attributes?.['exitCode'] ?? Number.NaN);
  return { id: Actor.ID, what, exitCode: what === 'die' && Number.isInteger(exitCode) ? exitCode : null };
}

const eventLine = z.object({
  Type: z.literal('container'),
  Action: z.enum(['start', 'die', 'destroy']),
  Actor: z.object({ ID: z.string().min(1), Attributes: z.record(z.string(), z.string()).nullish() }),
});

function asJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
