/** Findings about files, addresses and the state folder. Pure: judges what was found there. */

import { writeAddress, type ListenAddress } from '../settings/addresses.js';
import type { FolderFacts } from '../state/folder-facts.js';
import type { Place } from './ask-place.js';
import { ok, warning, wrong, type Verdict } from './check.js';

/** An access file (tokens, policy). `mode` is null where it could not be read. */
export interface RuleFile {
  readonly path: string;
  readonly mode: number | null;
  /** What is wrong with its text and its mode, in sentences. */
  readonly problems: readonly string[];
}

/** Whether a gate would accept the file, and nobody else may write it. */
export function judgeRuleFile({ path, mode, problems }: RuleFile, todo: string): Verdict {
  if (problems.length > 0) return wrong(problems.join('; '), todo);
  const shown = mode === null ? '' : `, mode ${(mode & 0o777).toString(8)}`;
  if (mode !== null && (mode & 0o002) !== 0)
    return wrong(`${path} can be written by everybody${shown}`, `chmod o-w ${path}`);
  if (mode !== null && (mode & 0o020) !== 0) {
    return warning(`${path} can be written by its group${shown}`, `chmod g-w ${path}, unless the group is meant to`);
  }
  return ok(`${path} is good${shown}`);
}

/** Whether a gate could listen at all of these addresses, or one does. */
export function judgePlaces(places: readonly (readonly [ListenAddress, Place])[]): Verdict {
  const said = places.map(([address, place]) => [writeAddress(address), place] as const);
  const taken = said.filter(([, { kind }]) => kind === 'taken');
  if (taken.length > 0) {
    return wrong(
      `${taken.map(([name]) => name).join(', ')}: another program listens there`,
      'find it with ss -ltnp (ss -lxp for a socket file), or choose another TUNEPLANE_LISTEN',
    );
  }
  const refused = said.flatMap(([name, place]) => (place.kind === 'refused' ? [`${name}: ${place.detail}`] : []));
  if (refused.length > 0)
    return wrong(refused.join('; '), 'choose another TUNEPLANE_LISTEN or TUNEPLANE_METRICS_LISTEN');
  const unready = said.flatMap(([name, place]) =>
    place.kind === 'gate' && !place.ready ? [`${name}: ${place.detail}`] : [],
  );
  if (unready.length > 0)
    return warning(`a gate answers and is not ready: ${unready.join('; ')}`, 'see its log and the other lines here');
  return ok(
    said.map(([name, { kind }]) => `${name}: ${kind === 'gate' ? 'a gate answers, ready' : 'free'}`).join('; '),
  );
}

/** Below this the cards seen and the exclusions may fail to be saved. */
const LITTLE_BYTES = 16 * 1024 * 1024;

/** Whether a gate could save its state. `gateAnswers`: one is running with these settings, and holds this folder. */
export function judgeFolder(facts: FolderFacts, gateAnswers: boolean): Verdict {
  switch (facts.kind) {
    case 'none':
      return wrong(`no folder for the state is writable (${facts.detail})`, 'set TUNEPLANE_STATE_DIR to one that can');
    case 'can_be_made':
      return ok(`${facts.folder} is not there yet and can be made`);
    case 'there':
      return judgeThere(facts, gateAnswers);
    default:
      return facts satisfies never;
  }
}

function judgeThere(facts: FolderFacts & { readonly kind: 'there' }, gateAnswers: boolean): Verdict {
  const { folder, held, openToOthers, freeBytes } = facts;
  if (held && !gateAnswers) {
    return wrong(
      `${folder} is held by another live gate, and none answers where these settings listen`,
      'two gates on one machine need two folders (TUNEPLANE_STATE_DIR); the first is found with fuser -v, on the file lock in the folder',
    );
  }
  if (freeBytes < LITTLE_BYTES) return wrong(`${folder}: ${freeBytes} bytes are free on its disk`, 'make room');
  if (openToOthers) return warning(`${folder} can be written by others`, `chmod 0700 ${folder}`);
  return ok(`${folder} can be written${held ? ', and the running gate holds it' : ''}`);
}
