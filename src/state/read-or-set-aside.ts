import { readFile, rename } from 'node:fs/promises';
import type { Clock, Log } from '../model/ports/outside.js';

/**
 * Reads a state file. Null when there is none, or it is invalid: then logs a warning and renames the file, so that a person
 * can inspect it. Never throws: a corrupt file must not stop the gate.
 */
export async function readOrSetAside<T>(
  file: string,
  parse: (text: string) => T,
  { clock, log }: { clock: Clock; log: Log },
): Promise<T | null> {
  try {
    return parse(await readFile(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    const aside = `${file}.corrupt-${clock.now()}`;
    const why = (error as Error).message;
    try {
      await rename(file, aside);
      log.error(
        { file, aside, why },
        `${file} cannot be read (${why}); it is renamed to ${aside} and a new one is started`,
      );
    } catch (renameError) {
      const whyNot = (renameError as Error).message;
      log.error(
        { file, why, why_not_aside: whyNot },
        `${file} cannot be read (${why}) nor renamed (${whyNot}); a new one is started`,
      );
    }
    return null;
  }
}
