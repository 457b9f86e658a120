/** Parses the command line of `gpu-gate serve`: the text for each setting, and every unknown flag. */

import { nearest } from './nearest.js';
import { flagOf, SETTINGS, TABLE, type SettingKey } from './table.js';

/** The parsed command line. */
export interface FlagsRead {
  readonly texts: ReadonlyMap<SettingKey, string>;
  readonly problems: readonly string[];
}

/** `--name value` and `--name=value`; a boolean flag may stand alone and then means true. */
export function readFlags(argv: readonly string[]): FlagsRead {
  const texts = new Map<SettingKey, string>();
  const problems: string[] = [];
  const rest = [...argv];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (!word.startsWith('--') || word === '--') {
      // A stray word may be some flag's value: if it could hold a password, it is not printed.
      const came = /@|:\/\//.test(word)
        ? 'A word that is not shown, since it may be a password,'
        : JSON.stringify(word);
      problems.push(`${came} is no flag: expected --name value, as \`gpu-gate serve --help\` shows them`);
      continue;
    }
    const equals = word.indexOf('=');
    const flag = equals < 0 ? word : word.slice(0, equals);
    const key = KEY_OF.get(flag);
    const text = equals < 0 ? valueBehind(rest, key) : word.slice(equals + 1);
    if (key === undefined)
      problems.push(`${flag} is not known: the nearest flag is ${nearest(flag, [...KEY_OF.keys()])}`);
    else if (text === null) problems.push(`${flag} came without a value: expected ${flag} <${TABLE[key].placeholder}>`);
    else if (texts.has(key)) problems.push(`${flag} came twice: expected it once`);
    else texts.set(key, text);
  }
  return { texts, problems };
}

const KEY_OF: ReadonlyMap<string, SettingKey> = new Map(SETTINGS.map(([key, { name }]) => [flagOf(name), key]));

/** The word after a flag, removed from the rest; null where there is none. */
function valueBehind(rest: string[], key: SettingKey | undefined): string | null {
  const next = rest[0];
  if (next !== undefined && !next.startsWith('--')) return rest.shift() ?? null;
  return key !== undefined && TABLE[key].placeholder === 'boolean' ? 'true' : null;
}
