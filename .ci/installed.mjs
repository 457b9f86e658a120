// Exits 0 if node_modules matches package-lock.json by content: a copy or a prune changes the timestamps of both. Where the
// compiler is missing, all development packages may be.
import { existsSync, readFileSync } from 'node:fs';

/** @typedef {{ version?: string, dev?: boolean, optional?: boolean, devOptional?: boolean }} Package */

const wanted = packagesIn('package-lock.json');
const here = packagesIn('node_modules/.package-lock.json');
const pruned = here['node_modules/typescript'] === undefined;
const missing = Object.entries(wanted).filter(
  ([place, { version, dev, optional, devOptional }]) =>
    place !== '' &&
    here[place]?.version !== version &&
    // Optional packages differ by machine; one that is present must have the right version.
    !(here[place] === undefined && (optional || devOptional || (pruned && dev))),
);
process.exitCode = missing.length === 0 ? 0 : 1;

/** By place, as npm writes them. @param {string} file @returns {Record<string, Package>} */
function packagesIn(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).packages : {};
}
