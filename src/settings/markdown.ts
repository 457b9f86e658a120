/** The settings as a table for the README. */

import { defaultInWords, flagOf, SETTINGS } from './table.js';

/** A Markdown table: name, flag, default, meaning; one row for each setting. */
export function settingsMarkdown(): string {
  const rows = SETTINGS.map(([, setting]) => {
    const standard = setting.standard === null ? defaultInWords(setting) : `\`${setting.standard}\``;
    return `| \`${setting.name}\` | \`${flagOf(setting.name)}\` | ${standard} | ${setting.meaning.replaceAll('|', '\\|')} |`;
  });
  return ['| name | flag | default | |', '|---|---|---|---|', ...rows, ''].join('\n');
}
