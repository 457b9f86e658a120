/** Opens the web config for the parts that use it: the listeners, and `/metrics`. */

import type { RequestHandler } from 'express';
import { CannotStart } from '../../model/cannot-start.js';
import type { Clock, Log } from '../../model/ports/outside.js';
import type { RuleFile } from '../../model/ports/rule-files.js';
import { isLocal } from '../../settings/addresses.js';
import type { Settings } from '../../settings/settings.js';
import { createBasicAuth } from './basic-auth.js';
import { createBcryptThread } from './bcrypt-thread.js';
import { createExtraHeaders } from './extra-headers.js';
import type { TlsPolicy } from './tls-policy.js';
import { openWebConfigFile } from './web-config-file.js';

export interface OpenWebConfig {
  /** Null where there is none. */
  readonly file: RuleFile | null;
  /** How a new TCP connection is served. */
  readonly connections: () => TlsPolicy | 'plain' | 'nobody';
  /** The files that it named at the start. */
  readonly files: readonly string[];
  readonly guards: {
    readonly headers: RequestHandler;
    /** For `/metrics`. */
    readonly scrapers: RequestHandler;
  };
}

/** Plain HTTP where there is no file. Throws `CannotStart` on a bad one. */
export async function openWebConfig(settings: Settings, outside: { clock: Clock; log: Log }): Promise<OpenWebConfig> {
  const { webConfigFile: path } = settings;
  if (path === null)
    return { file: null, connections: () => 'plain', files: [], guards: { headers: pass, scrapers: pass } };
  const opened = await openWebConfigFile({ path, mustHaveTls: mustHaveTls(settings), ...outside });
  if (opened.kind === 'bad') throw new CannotStart(`TUNEPLANE_WEB_CONFIG_FILE: ${opened.problems.join('; ')}`);
  const { file } = opened;
  return {
    file,
    connections: () => file.latest().connections,
    files: file.latest().files,
    guards: {
      headers: createExtraHeaders(() => file.latest().headers),
      scrapers: createBasicAuth({ users: () => file.latest().users, bcrypt: createBcryptThread() }),
    },
  };
}

/** Whether tokens would cross a network in clear text without it. */
function mustHaveTls(settings: Settings): boolean {
  return !settings.plainHttp && settings.listen.some((address) => !isLocal(address));
}

const pass: RequestHandler = (_req, _res, next) => next();
