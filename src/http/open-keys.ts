import { CannotStart } from '../model/cannot-start.js';
import type { Log } from '../model/ports/outside.js';
import type { Settings } from '../settings/settings.js';
import type { Keys } from './auth.js';
import { allowedHosts } from './host.js';
import { openTokensFile } from './tokens-file.js';

/** Who may call: the tokens file, or the hosts by which this machine alone is addressed. Throws `CannotStart` on a bad file. */
export async function openKeys(settings: Settings, log: Log): Promise<Keys> {
  if (settings.tokensFile === null) {
    return { kind: 'open', hosts: allowedHosts(settings.listen, settings.allowedHosts) };
  }
  const opened = await openTokensFile(settings.tokensFile, log);
  if (opened.kind === 'bad') throw new CannotStart(`TUNEPLANE_TOKENS_FILE: ${opened.problems.join('; ')}`);
  return { kind: 'tokens', file: opened.file };
}
