import { CannotStart } from '../model/cannot-start.js';
import type { Clock, Log } from '../model/ports/outside.js';
import type { RuleFile } from '../model/ports/rule-files.js';
import type { Settings } from '../settings/settings.js';
import type { Keys } from './auth.js';
import { allowedHosts } from './host.js';
import { openTokensFile } from './tokens-file.js';

export interface OpenKeys {
  readonly keys: Keys;
  /** The tokens file; null where there is none. */
  readonly file: RuleFile | null;
}

/**
 * Who may call: callers with a token from the file, or without a file those who address this machine as local. Throws
 * `CannotStart` on a bad file.
 */
export async function openKeys(settings: Settings, outside: { clock: Clock; log: Log }): Promise<OpenKeys> {
  if (settings.tokensFile === null) {
    return { keys: { kind: 'open', hosts: allowedHosts(settings.listen, settings.allowedHosts) }, file: null };
  }
  const opened = await openTokensFile(settings.tokensFile, outside);
  if (opened.kind === 'bad') throw new CannotStart(`TUNEPLANE_TOKENS_FILE: ${opened.problems.join('; ')}`);
  return { keys: { kind: 'tokens', file: opened.file }, file: opened.file };
}
