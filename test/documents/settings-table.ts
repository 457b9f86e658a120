import { defaultInWords, SETTINGS } from '../../src/settings/table.js';

/** The settings as a Markdown table: name, default, meaning. */
export function settingsTable(): string {
  const rows = SETTINGS.map(([, setting]) => {
    const standard = setting.standard === null ? defaultInWords(setting) : `\`${setting.standard}\``;
    return `| \`${setting.name}\` | ${standard} | ${setting.meaning.replaceAll('|', '\\|')} |`;
  });
  return ['| name | default | |', '|---|---|---|', ...rows, ''].join('\n');
}
