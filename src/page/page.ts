/** The page of this gate: its built files, and the data that it shows. */

import { hostname } from 'node:os';
import { readPageFiles } from './page-files.js';
import type { PageRouteParts } from './routes.js';
import { statusAnswer, type StatusParts } from './status-answer.js';

/** Throws where the page was not built. */
export function createPage(parts: Omit<StatusParts, 'machine'>): Omit<PageRouteParts, 'door'> {
  const shown = { ...parts, machine: hostname() };
  return { files: readPageFiles(), status: () => statusAnswer(shown) };
}
