/**
 * Reads the progress of a pull to its end: one JSON object per line, with status 200 even if it then fails. Returns the
 * error that the stream contained, or null. Throws when the connection breaks. `progress` is called for any data.
 */
export async function parsePullProgress(
  stream: AsyncIterable<Buffer | string>,
  progress: () => void,
): Promise<string | null> {
  let line = '';
  let failure: string | null = null;
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

function errorIn(line: string): string | null {
  if (!line.includes('"error')) return null;
  try {
    const entry = JSON.parse(line) as { error?: unknown; errorDetail?: { message?: unknown } } | null;
    const words = entry?.errorDetail?.message ?? entry?.error;
    return typeof words === 'string' && words !== '' ? words : null;
  } catch {
    return null;
  }
}
