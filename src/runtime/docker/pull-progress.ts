import { z } from 'zod';
import type { Failure } from './pull-failure.js';

/**
 * Reads the progress of a pull to its end: one JSON object per line, with status 200 even if it then fails. Returns the
 * error that the stream contained, or null. Throws when the connection breaks. `progress` is called for any data.
 */
export async function parsePullProgress(
  stream: AsyncIterable<Buffer | string>,
  progress: () => void,
): Promise<Failure | null> {
  let line = '';
  let failure: Failure | null = null;
  for await (const chunk of stream) {
    progress();
    const lines = (line + chunk.toString()).split('\n');
    line = (lines.pop() ?? '').slice(0, LONGEST_LINE);
    for (const whole of lines) failure = errorIn(whole) ?? failure;
  }
  return errorIn(line) ?? failure;
}

/** Progress lines are a few hundred bytes; an endless line is discarded. */
const LONGEST_LINE = 64 * 1024;

function errorIn(line: string): Failure | null {
  if (!line.includes('"error')) return null;
  const parsed = errorLine.safeParse(asJson(line));
  if (!parsed.success) return null;
  const { error, errorDetail } = parsed.data;
  const words = errorDetail?.message || error;
  // Engines up to 29 send no status here; if one does, it counts.
  return words ? { status: errorDetail?.code ?? 200, words } : null;
}

const errorLine = z.object({
  error: z.string().optional(),
  errorDetail: z.object({ message: z.string().optional(), code: z.number().optional() }).nullish(),
});

function asJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
