/**
 * A package registry with exactly the packages of a lock file, from an npm cache: `node serve-packages.mjs PORT LOCK CACHE`.
 * Prints `ready` when it listens, and ends when its standard input does. It is a separate program since it runs in the
 * network of a test engine, which reaches nothing else. npm itself verifies the packages against the lock file.
 */
import { createReadStream, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { cachedAt } from './cached-at.mjs';

const [port = '', lockFile = '', cache = ''] = process.argv.slice(2);

/** @type {{ packages: Record<string, { name?: string, version?: string, integrity?: string }> }} */
const lock = JSON.parse(readFileSync(lockFile, 'utf8'));

/** By name: what a registry tells of a package. @type {Map<string, Record<string, unknown>>} */
const versionsOf = new Map();
for (const [place, { name = nameAt(place), version = '', integrity = '' }] of Object.entries(lock.packages)) {
  if (place === '' || integrity === '') continue;
  const tarball = `http://127.0.0.1:${port}/-/${cachedAt(integrity)}.tgz`;
  const known = versionsOf.get(name) ?? {};
  versionsOf.set(name, { ...known, [version]: { name, version, dist: { integrity, tarball } } });
}

createServer((request, response) => {
  const path = decodeURIComponent(request.url ?? '/').slice(1);
  const content = /^-\/(_cacache\/content-v2\/[0-9a-z/]+)\.tgz$/.exec(path)?.[1];
  const versions = versionsOf.get(path);
  if (content !== undefined) {
    createReadStream(join(cache, content))
      .once('error', () => response.writeHead(404).end())
      .pipe(response);
  } else if (versions === undefined) response.writeHead(404).end();
  else {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ name: path, 'dist-tags': {}, versions }));
  }
}).listen(Number(port), '127.0.0.1', () => console.log('ready'));
process.stdin.resume().once('end', () => process.exit());

/** `node_modules/a/node_modules/@b/c` is `@b/c`. @param {string} place */
function nameAt(place) {
  return place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
}
