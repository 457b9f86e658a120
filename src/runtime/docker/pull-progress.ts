/**
 * Reads the progress of a pull to its end: a JSON object per line, with status 200 even where it then fails. The answer is
 * the error that came in it, or null. Throws when the connection breaks. `progress` is called for whatever comes.
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

/** Progress lines are some hundred bytes; what has no end is not kept. */
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
