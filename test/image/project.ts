import { fileURLToPath } from 'node:url';

/** The project's folder, without a trailing slash. */
export const PROJECT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
