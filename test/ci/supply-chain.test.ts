import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type Docker from 'dockerode';
import { expect, test } from 'vitest';

/** What is installed with the gate, and what says so. */

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

interface Locked {
  readonly packages: Readonly<
    Record<string, { readonly name?: string; readonly version?: string; readonly dev?: boolean }>
  >;
}

/** Every package that a gate is installed with, under its true name. */
function production(): readonly string[] {
  const { packages } = JSON.parse(read('package-lock.json')) as Locked;
  return Object.entries(packages)
    .filter(([path, { dev }]) => path !== '' && dev !== true)
    .map(([path, { name }]) => name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length));
}

test('nothing for SSH and BuildKit is installed, which dockerode would bring', () => {
  const unwanted = /^(?:ssh2|cpu-features|nan|buildcheck|asn1|bcrypt-pbkdf|protobufjs|@protobufjs\/.*|@grpc\/.*)$/;
  expect(production().filter((name) => unwanted.test(name))).toEqual([]);
});

test('dockerode loads as it is without them, should its files once lie elsewhere', () => {
  const Client = createRequire(import.meta.url)('dockerode') as typeof Docker;
  expect(new Client({ socketPath: '/run/none.sock' }).modem).toMatchObject({ socketPath: '/run/none.sock' });
});

test('the package says what it is made of, each time it is packed', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  expect(scripts['prepack']).toContain('node .ci/sbom.mjs dist/sbom.cdx.json');
  const folder = mkdtempSync(join(tmpdir(), 'sbom-'));
  execFileSync('node', [join(root, '.ci/sbom.mjs'), join(folder, 'sbom.json')], { stdio: 'pipe' });
  const sbom = JSON.parse(readFileSync(join(folder, 'sbom.json'), 'utf8')) as {
    bomFormat: string;
    metadata: { component: { name: string; purl: string } };
    components: { purl: string }[];
  };
  rmSync(folder, { recursive: true });
  expect(sbom.bomFormat).toBe('CycloneDX');
  expect(sbom.metadata.component).toMatchObject({
    name: 'tuneplane-gpu-gate',
    purl: expect.stringContaining('pkg:npm/tuneplane-gpu-gate@'),
  });
  const named = sbom.components.map(({ purl }) => decodeURIComponent(purl.replace(/^pkg:npm\/(.*)@.*$/, '$1')));
  expect(new Set(named)).toEqual(new Set(production()));
});
