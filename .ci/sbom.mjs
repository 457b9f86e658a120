// Writes what the package is made of (CycloneDX) to the given file: `npm sbom` without the development packages, under the
// package's own name.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const [, , out = 'dist/sbom.cdx.json'] = process.argv;
const project = new URL('..', import.meta.url);
const read = (path) => JSON.parse(readFileSync(new URL(path, project), 'utf8'));

const flags = ['--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application'];
const said = execFileSync('npm', ['sbom', ...flags], { cwd: project, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
const sbom = JSON.parse(said);

// Not by npm's --omit=dev, which also leaves out what a development package may use too.
const refOf = (path, { name, version }) => `${name ?? path.slice(path.lastIndexOf('node_modules/') + 13)}@${version}`;
const installed = Object.entries(read('package-lock.json').packages).filter(([, { dev }]) => dev !== true);
const refs = new Set(installed.map(([path, entry]) => refOf(path, entry)));
const isInstalled = (ref) => refs.has(ref) || ref === sbom.metadata.component['bom-ref'];

sbom.components = sbom.components.filter((component) => isInstalled(component['bom-ref'].split('|')[0]));
sbom.dependencies = sbom.dependencies
  .filter(({ ref }) => isInstalled(ref.split('|')[0]))
  .map((each) => ({ ...each, dependsOn: each.dependsOn.filter((ref) => isInstalled(ref.split('|')[0])) }));
// npm takes the name of the folder.
sbom.metadata.component.name = read('package.json').name;
writeFileSync(out, `${JSON.stringify(sbom, null, 2)}\n`);
