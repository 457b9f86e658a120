import { chmod, chown, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Mount } from '../../src/model/admission.js';
import type { OffLimitsAnswer } from '../../src/model/ports/off-limits.js';
import { checkMounts, type MountAnswer } from '../../src/policy/mount-policy.js';
import { realPath } from '../../src/policy/paths-on-disk.js';
import { parsePolicy } from '../../src/policy/policy-file.js';
import { known } from '../support/off-limits.js';

/** A place where every folder on the way is root's alone; the folder for temporary files is everybody's. */
let machine = '';

beforeAll(async () => {
  machine = await mkdtemp('/srv/mount-policy-');
  await chmod(machine, 0o755);
  const folders = [
    'sets/cars/2024',
    'sets/of-alice/inside',
    'sets/of-group/inside',
    'scratch/alice/deep',
    'scratch/bob',
    'docker/volumes',
    'shared/open',
    'private',
  ];
  for (const folder of folders) await mkdir(join(machine, folder), { recursive: true });
  await writeFile(join(machine, 'sets/labels.csv'), 'x');
  await writeFile(join(machine, 'scratch/notes'), 'x');
  await chown(join(machine, 'sets/of-alice'), 1000, 1000);
  await chmod(join(machine, 'sets/of-group'), 0o775);
  await chmod(join(machine, 'shared'), 0o1777);
  const links = {
    'sets/link-out': 'private',
    'sets/link-inside': 'sets/cars',
    'sets/link-to-scratch': 'scratch/alice',
    'sets/link-to-docker': 'docker',
    'scratch/alice/link-to-sets': 'sets/cars',
    'scratch/link-to-bob': 'scratch/bob',
    'link-to-sets': 'sets',
    'link-to-scratch': 'scratch',
  };
  for (const [link, to] of Object.entries(links)) await symlink(join(machine, to), join(machine, link));
  await symlink('/etc', join(machine, 'sets/link-to-etc'));
});
afterAll(() => rm(machine, { recursive: true }));

describe('a root that jobs may write', () => {
  test.each([
    ['itself, to write', 'scratch', false],
    ['itself, to read', 'scratch', true],
    ['itself by a link', 'link-to-scratch', false],
    ['itself by a way around', 'scratch/alice/..//', false],
  ])('is given %s', async (_says, source, readOnly) => {
    expect(await ask([{ root: '/scratch' }], source, readOnly)).toEqual(allowed('/scratch', readOnly));
  });

  test.each([
    ['a folder in it', 'scratch/alice'],
    ['a folder deep in it', 'scratch/alice/deep'],
    ['a file in it', 'scratch/notes'],
    ['a folder in it by a link to the root', 'link-to-scratch/alice'],
    ['a link in it to another root', 'scratch/alice/link-to-sets'],
    ['a link from another root into it', 'sets/link-to-scratch'],
    ['what is not there now', 'scratch/gone'],
  ])('gives nothing below it: %s, whether to read or to write', async (_says, source) => {
    const rules = [{ root: '/scratch' }, { root: '/sets', read_only: true }];
    for (const readOnly of [true, false]) {
      expect(await ask(rules, source, readOnly)).toEqual(deniedAs(/lies in \S+\/scratch, which jobs may write/));
    }
  });

  test('is still writable for those who were given a narrower root in it, and that one is never given', async () => {
    const rules = [{ root: '/scratch' }, { root: '/scratch/alice', read_only: true }];
    const opened = parsePolicy('p', JSON.stringify({ mounts: below(rules) }));
    expect(opened).toEqual({
      kind: 'bad',
      problems: [expect.stringMatching(/^p: \/mounts\/1\/root: .*\/scratch\/alice lies in .*\/scratch, which jobs/)],
    });
    // One of the two leads into the other by a link, which no file shows.
    const byLink = [{ root: '/link-to-scratch' }, { root: '/scratch/alice', read_only: true }];
    expect(await ask(byLink, 'scratch/alice', true)).toEqual(deniedAs(/lies in \S+\/link-to-scratch, which jobs/));
  });
});

describe('a root for reading', () => {
  const rules = [{ root: '/sets', read_only: true }];

  test.each([
    ['itself', 'sets', '/sets'],
    ['a folder of root in it', 'sets/cars', '/sets/cars'],
    ['a folder deep in it', 'sets/cars/2024', '/sets/cars/2024'],
    ["somebody's own folder, whose parents are root's", 'sets/of-alice', '/sets/of-alice'],
    ['a file in it', 'sets/labels.csv', '/sets/labels.csv'],
    ['a link in it to a folder in it', 'sets/link-inside', '/sets/cars'],
    ['a folder by a link to the root', 'link-to-sets/cars', '/sets/cars'],
    ['a folder by a way around', 'sets/of-alice/../cars/', '/sets/cars'],
  ])('gives %s', async (_says, source, path) => {
    expect(await ask(rules, source, true)).toEqual(allowed(path, true));
    expect(await ask(rules, source, false)).toMatchObject({
      error: { pointer: '/container/mounts/0/read_only', detail: expect.stringContaining('may only be mounted with') },
    });
  });

  test.each([
    ["a folder in somebody's folder", 'sets/of-alice/inside', /sets\/of-alice belongs to the user 1000, not to root/],
    ['a folder in a folder of a group', 'sets/of-group/inside', /sets\/of-group can be written by others \(mode 775\)/],
  ])('does not give %s, which may be a link by the time of the mount', async (_says, source, words) => {
    expect(await ask(rules, source, true)).toEqual(deniedAs(words));
  });

  test('named with a writable one in it gives what lies beside that one', async () => {
    const both = [{ root: '', read_only: true }, { root: '/scratch' }];
    expect(await ask(both, 'sets/cars', true)).toEqual(allowed('/sets/cars', true));
    expect(await ask(both, 'scratch', false)).toEqual(allowed('/scratch', false));
    expect(await ask(both, 'scratch/alice', true)).toEqual(deniedAs(/which jobs may write/));
  });
});

describe('a root that ends in /*', () => {
  test('makes each folder there a root, and is none itself', async () => {
    const rules = [{ root: '/scratch/*' }];
    expect(await ask(rules, 'scratch/alice', false)).toEqual(allowed('/scratch/alice', false));
    expect(await ask(rules, 'scratch/bob', true)).toEqual(allowed('/scratch/bob', true));
    expect(await ask(rules, 'scratch/alice/deep', true)).toEqual(
      deniedAs(/lies in \S+\/scratch\/\*, which jobs may write/),
    );
    expect(await ask(rules, 'scratch', false)).toEqual(deniedAs(/is below no allowed root/));
    expect(await ask(rules, 'scratch/notes', false)).toEqual(deniedAs(/means folders alone/));
    expect(await ask(rules, 'scratch/link-to-bob', false)).toEqual(allowed('/scratch/bob', false));
    expect(await ask(rules, 'scratch/gone', false)).toEqual(deniedAs(/does not exist/));
  });

  test('for reading gives what lies deeper too', async () => {
    const rules = [{ root: '/sets/*', read_only: true }];
    expect(await ask(rules, 'sets/cars/2024', true)).toEqual(allowed('/sets/cars/2024', true));
    expect(await ask(rules, 'sets/of-alice', true)).toEqual(allowed('/sets/of-alice', true));
    expect(await ask(rules, 'sets/of-alice/inside', true)).toEqual(deniedAs(/belongs to the user 1000/));
  });

  test('gives nothing of a folder where anybody may put a link', async () => {
    for (const read_only of [true, false]) {
      const answer = await ask([{ root: '/shared/*', read_only }], 'shared/open', read_only);
      expect(answer).toEqual(deniedAs(/\/shared can be written by others \(mode 1777\)/));
    }
  });

  test('yields to one of its folders that is named for itself', async () => {
    const rules = [{ root: '/scratch/*' }, { root: '/scratch/alice', read_only: true }];
    expect(await ask(rules, 'scratch/alice/deep', true)).toEqual(allowed('/scratch/alice/deep', true));
    expect(await ask(rules, 'scratch/alice', false)).toMatchObject({
      error: { pointer: '/container/mounts/0/read_only' },
    });
    expect(await ask(rules, 'scratch/bob', false)).toEqual(allowed('/scratch/bob', false));
  });
});

test.each([
  ['a link that leads out of its root', 'sets/link-out', /leads out of the allowed roots through a link/],
  ['a link to /etc', 'sets/link-to-etc', /in a folder that no job may mount/],
  ["a link to Docker's root", 'sets/link-to-docker', /in a folder that no job may mount/],
  ["a folder in Docker's root", 'docker/volumes', /in a folder that no job may mount/],
  ["a folder that holds Docker's root", '', /in a folder that no job may mount/],
  ['a folder beside the root', 'private', /is below no allowed root/],
  ['a folder whose name begins like the root', 'sets-2', /is below no allowed root/],
  ['what is not there', 'sets/gone', /does not exist on this machine/],
  ['what is not there, outside', 'gone', /is below no allowed root/],
])('%s is refused', async (_says, source, words) => {
  const rules = [{ root: '/sets', read_only: true }, { root: '/docker' }];
  expect(await ask(rules, source, true, known([join(machine, 'docker')]))).toEqual(deniedAs(words));
});

test.each([
  ['/', '/'],
  ['/etc', '/etc'],
  ['a file below /etc', '/etc/passwd'],
  ['/etc by a way around', '/srv/../etc'],
  ['/etc with more slashes', '//etc///'],
  ['/proc', '/proc/1/root'],
  ['/sys', '/sys'],
  ['/dev', '/dev'],
  ['/run', '/run/docker.sock'],
  ['/run by its older name', '/var/run/docker.sock'],
  ["Docker's root", '/var/lib/docker'],
  ['a folder that holds a forbidden one', '/var/lib'],
])('%s is never given, even where its root is allowed', async (_says, source) => {
  const rules = { mounts: [{ root: '/', readOnly: true }], volumes: [] };
  const mount: Mount = { type: 'bind', source, target: '/x', readOnly: true };
  const [answer] = await checkMounts([mount], { rules, offLimits: known(), resolve: realPath });
  expect(answer).toEqual(deniedAs(/in a folder that no job may mount/));
});

test.each([
  ['is', 'sets/cars', /in a folder that no job may mount/],
  ['holds', 'sets', /in a folder that no job may mount/],
  ['lies in', 'sets/cars/2024', /in a folder that no job may mount/],
])(
  'a folder that %s one that is off limits on this machine is refused, by way of a link too',
  async (_says, source, words) => {
    const offLimits = known([join(machine, 'link-to-sets/cars')]);
    expect(await ask([{ root: '/sets', read_only: true }], source, true, offLimits)).toEqual(deniedAs(words));
    expect(await ask([{ root: '/sets', read_only: true }], 'sets/of-alice', true, offLimits)).toMatchObject({
      kind: 'allowed',
    });
  },
);

describe('a volume', () => {
  const askVolume = async (source: string, offLimits: OffLimitsAnswer): Promise<MountAnswer | undefined> => {
    const mount: Mount = { type: 'volume', source, target: '/x', readOnly: false };
    const rules = { mounts: [], volumes: ['*'] };
    return (await checkMounts([mount], { rules, offLimits, resolve: realPath }))[0];
  };

  test("is given, but not one of the gate's own", async () => {
    expect(await askVolume('scratch', known([], ['gate-state']))).toMatchObject({ kind: 'allowed' });
    expect(await askVolume('gate-state', known([], ['gate-state']))).toEqual(deniedAs(/the gate's own/));
  });

  test("is not given where it is not known which are the gate's own, and no folder either", async () => {
    const untold: OffLimitsAnswer = { kind: 'untold', detail: 'nobody tells' };
    const words = /the forbidden paths of this machine are unknown, so nothing may be mounted: nobody tells/;
    expect(await askVolume('scratch', untold)).toEqual(deniedAs(words));
    expect(await ask([{ root: '/sets', read_only: true }], 'sets', true, untold)).toEqual(deniedAs(words));
  });
});

type Rule = { readonly root: string; readonly read_only?: boolean };

function below(rules: readonly Rule[]): readonly Rule[] {
  return rules.map((rule) => ({ ...rule, root: `${machine}${rule.root}` }));
}

/** Roots and source lie below the machine's folder. */
async function ask(
  rules: readonly Rule[],
  source: string,
  readOnly: boolean,
  offLimits: OffLimitsAnswer = known(),
): Promise<MountAnswer | undefined> {
  const mounts = below(rules).map(({ root, read_only }) => ({ root, readOnly: read_only ?? false }));
  const mount: Mount = { type: 'bind', source: `${machine}/${source}`, target: '/x', readOnly };
  const [answer] = await checkMounts([mount], { rules: { mounts, volumes: [] }, offLimits, resolve: realPath });
  return answer;
}

function allowed(path: string, readOnly: boolean): MountAnswer {
  return { kind: 'allowed', mount: { type: 'bind', source: `${machine}${path}`, target: '/x', readOnly } };
}

function deniedAs(words: RegExp): object {
  return { kind: 'denied', error: { pointer: '/container/mounts/0/source', detail: expect.stringMatching(words) } };
}
