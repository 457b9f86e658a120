/** The settings for people: what `gpu-gate serve --help` prints. */

import { defaultInWords, flagOf, SETTINGS } from './table.js';

/** Name, flag, default and meaning of every setting, wrapped to `columns`. */
export function settingsHelp(columns = 100): string {
  return ['Settings, by flag or by environment variable; the flag wins:', ...SETTINGS.map(about)].join('\n');

  function about([, setting]: (typeof SETTINGS)[number]): string {
    const name = `${setting.name}, default: ${defaultInWords(setting)}`;
    const lines = [name, setting.meaning].flatMap((text) => wrap(text, columns - INDENT.length));
    return [`  ${flagOf(setting.name)} <${setting.placeholder}>`, ...lines.map((each) => INDENT + each)].join('\n');
  }
}

const INDENT = '      ';

function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= columns) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
