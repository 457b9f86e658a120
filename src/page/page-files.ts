/** The page's files: its HTML, its styles, its script and the README, read once when the gate starts. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { stateColoursCss } from './state-colours.js';

export interface PageFile {
  readonly type: string;
  readonly text: string;
}

export interface PageFiles {
  readonly html: PageFile;
  /** By name, below `/page/`. */
  readonly parts: ReadonlyMap<string, PageFile>;
  /** Null where the installation lacks it. */
  readonly readme: PageFile | null;
}

const TYPES = { html: 'text/html', css: 'text/css', js: 'text/javascript' };

/** Throws where the page has not been built: `npm run build` puts it beside the compiled gate. */
export function readPageFiles(
  folder = new URL('./client/', import.meta.url),
  readme = new URL('../../README.md', import.meta.url),
): PageFiles {
  const parts = readdirSync(folder)
    .filter((name) => /\.(?:js|css)$/.test(name))
    .map((name) => [name, read(new URL(name, folder), name.endsWith('.js') ? TYPES.js : TYPES.css)] as const);
  if (!parts.some(([name]) => name === 'main.js')) {
    throw new Error(`expected the page's script main.js in ${fileURLToPath(folder)}; npm run build makes it`);
  }
  return {
    html: read(new URL('index.html', folder), TYPES.html),
    parts: new Map([...parts, ['state-colours.css', { type: TYPES.css, text: stateColoursCss() }]]),
    // As plain text: a browser shows it, but would download a markdown type.
    readme: existsSync(readme) ? read(readme, 'text/plain') : null,
  };
}

function read(file: URL, type: string): PageFile {
  return { type, text: readFileSync(file, 'utf8') };
}
