/** The Markdown files of the repository, and their content. */

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { findingsTable } from './findings-table.js';
import { metricsTable } from './metrics-table.js';
import { settingsTable } from './settings-table.js';
import { xidsTable } from './xids-table.js';

export const ROOT = new URL('../../', import.meta.url);

/** Every file that a commit would contain, from the root of the repository. */
export function files(): readonly string[] {
  const listed = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' });
  return listed.split('\0').filter((path) => path !== '' && existsSync(new URL(path, ROOT)));
}

/** The Markdown files among them. */
export function documents(): readonly string[] {
  return files().filter((path) => path.endsWith('.md'));
}

export function read(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8');
}

/** The possible content between `<!-- name -->` and `<!-- /name -->`, generated from the code. */
export const TABLES: Readonly<Record<string, () => string>> = {
  settings: settingsTable,
  metrics: metricsTable,
  findings: findingsTable,
  xids: xidsTable,
};

/** The generated tables of a document, in order. An unknown name between the markers is an error in the document. */
export function tablesIn(text: string): readonly string[] {
  return Array.from(text.matchAll(MARKED), ([, name = '']) => name);
}

/** The document with each of its tables regenerated. */
export function withTables(text: string): string {
  return text.replaceAll(MARKED, (_all, name: string) => {
    const make = TABLES[name];
    if (make === undefined) throw new Error(`expected one of ${Object.keys(TABLES).join(', ')}, got <!-- ${name} -->`);
    return `<!-- ${name} -->\n${make()}<!-- /${name} -->`;
  });
}

const MARKED = /^<!-- (\w+) -->\n[^]*?^<!-- \/\1 -->/gm;
