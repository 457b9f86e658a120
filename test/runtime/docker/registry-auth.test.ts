import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseImageReference } from '../../../src/runtime/docker/image-reference.js';
import { authFor, createFindAuth, dockerConfigFile } from '../../../src/runtime/docker/registry-auth.js';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const credentials = (serveraddress: string, username = 'me', password = 'secret') => ({
  kind: 'credentials',
  authconfig: { username, password, serveraddress },
});
const problem = (words: RegExp) => ({ kind: 'problem', detail: expect.stringMatching(words) });

describe('the credentials for a registry', () => {
  test.each<[string, string, object, object]>([
    [
      'are those under its host',
      'r.local',
      { auths: { 'r.local': { auth: base64('me:secret') } } },
      credentials('r.local'),
    ],
    [
      'may be under an address',
      'r.local',
      { auths: { 'https://r.local/v1/': { auth: base64('me:secret') } } },
      credentials('https://r.local/v1/'),
    ],
    [
      'are those under its host as it is, before those under an address',
      'r.local',
      { auths: { 'https://r.local/v1/': { auth: base64('old:secret') }, 'r.local': { auth: base64('me:secret') } } },
      credentials('r.local'),
    ],
    [
      'are not those of another spelling',
      'R.Local',
      { auths: { 'r.local': { auth: base64('me:secret') } } },
      { kind: 'anonymous' },
    ],
    [
      'for Docker Hub are under no other key than its old address',
      'docker.io',
      {
        auths: Object.fromEntries(
          ['docker.io', 'index.docker.io', 'registry-1.docker.io', 'https://index.docker.io/v2/'].map((key) => [
            key,
            { auth: base64('me:secret') },
          ]),
        ),
      },
      { kind: 'anonymous' },
    ],
    [
      'for Docker Hub are not those for a host that is only spelt like it',
      'DOCKER.IO',
      { auths: { 'https://index.docker.io/v1/': { auth: base64('me:secret') } } },
      { kind: 'anonymous' },
    ],
    [
      'for Docker Hub are not those for a registry that is one by its upper case alone',
      parseImageReference('EVIL/train')?.registry ?? '',
      { auths: { 'https://index.docker.io/v1/': { auth: base64('me:secret') } } },
      { kind: 'anonymous' },
    ],
    [
      'are told apart by port',
      'r.local:5000',
      { auths: { 'r.local': { auth: base64('me:secret') } } },
      { kind: 'anonymous' },
    ],
    [
      'may hold a colon in the password',
      'r',
      { auths: { r: { auth: base64('me:se:cret') } } },
      credentials('r', 'me', 'se:cret'),
    ],
    ['may be written out', 'r', { auths: { r: { username: 'me', password: 'secret' } } }, credentials('r')],
    [
      'for Docker Hub are under its old address',
      'docker.io',
      { auths: { 'https://index.docker.io/v1/': { auth: base64('me:secret') } } },
      credentials('https://index.docker.io/v1/'),
    ],
    [
      'may be an identity token',
      'r',
      { auths: { r: { identitytoken: 'abc' } } },
      { kind: 'credentials', authconfig: { identitytoken: 'abc', serveraddress: 'r' } },
    ],
    [
      'are nobody’s where there are none',
      'r',
      { auths: { other: { auth: base64('me:secret') } } },
      { kind: 'anonymous' },
    ],
    ['are nobody’s in an empty file', 'r', {}, { kind: 'anonymous' }],
    [
      'that cannot be read are a problem',
      'r',
      { auths: { r: { auth: base64('nothing') } } },
      problem(/the entry for r in .*user:password/),
    ],
    [
      'in a helper of its own are refused by name',
      'r',
      { credHelpers: { r: 'ecr-login' } },
      problem(/credHelpers names "ecr-login" for r/),
    ],
    ['are not asked of another registry’s helper', 'r', { credHelpers: { other: 'ecr-login' } }, { kind: 'anonymous' }],
    [
      'in a store are refused by name',
      'r',
      { auths: { r: {} }, credsStore: 'secretservice' },
      problem(/credsStore is "secretservice".*TUNEPLANE_DOCKER_CONFIG/),
    ],
    [
      'in the file win over a store',
      'r',
      { auths: { r: { auth: base64('me:secret') } }, credsStore: 'pass' },
      credentials('r'),
    ],
  ])('%s', (_says, registry, config, expected) => {
    expect(authFor(registry, JSON.stringify(config), '/etc/config.json')).toEqual(expected);
  });

  test('never show a secret in a problem', () => {
    const found = authFor('r', JSON.stringify({ auths: { r: { auth: base64('topsecret') } } }), '/etc/config.json');
    expect(JSON.stringify(found)).not.toMatch(/topsecret|dG9wc2VjcmV0/);
  });

  test('in a file that is no JSON are a problem', () => {
    expect(authFor('r', 'x', '/etc/config.json')).toEqual(problem(/\/etc\/config.json is not a Docker config.json/));
  });
});

describe('the file of credentials', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'auth-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('is the setting, else that of DOCKER_CONFIG, else that of the user', () => {
    expect(dockerConfigFile('/a/b.json', { DOCKER_CONFIG: '/c' })).toEqual({ path: '/a/b.json', explicit: true });
    expect(dockerConfigFile(undefined, { DOCKER_CONFIG: '/c' })).toEqual({ path: '/c/config.json', explicit: false });
    expect(dockerConfigFile('', {}).path).toMatch(/\.docker\/config\.json$/);
  });

  test('is read on each use, so that a new login counts at once', async () => {
    const path = join(folder, 'config.json');
    const find = createFindAuth({ path, explicit: false });
    expect(await find('r')).toEqual({ kind: 'anonymous' });
    writeFileSync(path, JSON.stringify({ auths: { r: { auth: base64('me:secret') } } }));
    expect(await find('r')).toEqual(credentials('r'));
    expect(await createFindAuth({ path: folder, explicit: true })('r')).toEqual(credentials('r'));
  });

  test('must be there when it was named, and must be a file', async () => {
    expect(await createFindAuth({ path: join(folder, 'none'), explicit: true })('r')).toEqual(
      problem(/cannot read the credentials for r: ENOENT/),
    );
    mkdirSync(join(folder, 'odd', 'config.json'), { recursive: true });
    expect(await createFindAuth({ path: join(folder, 'odd'), explicit: false })('r')).toEqual(problem(/EISDIR/));
  });
});
