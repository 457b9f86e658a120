import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPolicyFile, parsePolicy } from '../../src/policy/policy-file.js';
import { RULES_WITHOUT_A_FILE } from '../../src/policy/policy-rules.js';
import { collect, type Gate } from '../http/gate.js';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'policy-file-'));
});
afterAll(() => rm(folder, { recursive: true }));

test('an empty policy is the same as none', () => {
  expect(parsePolicy('p', '{}')).toEqual({ kind: 'good', value: RULES_WITHOUT_A_FILE });
});

test.each([
  ['a rule that is misspelt', { mount: [] }, 'p: /mount: unknown key; known here: images, mounts'],
  [
    'a root that is the whole machine',
    { mounts: [{ root: '/' }] },
    'p: /mounts/0/root: expected a folder for data; never /,',
  ],
  ['a root in /etc', { mounts: [{ root: '/etc/x' }] }, 'p: /mounts/0/root: expected a folder for data; never /,'],
  [
    'a root with * in its middle',
    { mounts: [{ root: '/data/*/sets' }] },
    'p: /mounts/0/root: expected a path in which * stands, if at all, for its whole last part',
  ],
  [
    'every folder of the machine as a root',
    { mounts: [{ root: '/*' }] },
    'p: /mounts/0/root: expected a folder for data; never /,',
  ],
  [
    'every folder of a forbidden one as a root',
    { mounts: [{ root: '/etc/*' }] },
    'p: /mounts/0/root: expected a folder for data; never /,',
  ],
  [
    'a root in one that jobs may write',
    { mounts: [{ root: '/data/sets', read_only: true }, { root: '/data' }] },
    'p: /mounts/0/root: /data/sets lies in /data, which jobs may write: it is never given',
  ],
  [
    'a root in each of those that jobs may write',
    { mounts: [{ root: '/data/*' }, { root: '/data/a/b', read_only: true }] },
    'p: /mounts/1/root: /data/a/b lies in /data/*, which jobs may write: it is never given',
  ],
  [
    'the folders of a root that jobs may write',
    { mounts: [{ root: '/data' }, { root: '/data/*', read_only: true }] },
    'p: /mounts/1/root: /data/* lies in /data, which jobs may write: it is never given',
  ],
  ['a relative root', { mounts: [{ root: 'data' }] }, 'p: /mounts/0/root: expected an absolute path; got "data"'],
  [
    'every capability',
    { cap_add: ['ALL'] },
    'p: /cap_add/0: expected the capabilities by name; ALL would lift every bound',
  ],
  ["the host's network", { networks: ['host'] }, 'p: /networks: host namespaces are never given to a job'],
  ["the host's ipc", { ipc: ['host'] }, 'p: /ipc/0: expected "private", "shareable" or "none"'],
  [
    'a range that runs backwards',
    { ports: ['20-10'] },
    'p: /ports/0: expected a port, or a range such as "18000-18999"',
  ],
  ['a port that is none', { ports: ['70000'] }, 'p: /ports/0: expected a port, or a range such as "18000-18999"'],
  ['a pattern instead of a list', { images: '*' }, 'p: /images: expected a list of patterns'],
  [
    'a default above its bound',
    { max: { cpus: 1 }, defaults: { cpus: 2 } },
    'p: /defaults/cpus: expected at most /max/cpus, 1; got 2',
  ],
  [
    'a default user that is not allowed',
    { users: ['1'], defaults: { user: '2' } },
    'p: /defaults/user: expected one of /users: the user 2 is not allowed here; allowed: 1',
  ],
])('%s makes the file bad', (_says, file, problem) => {
  const parsed = parsePolicy('p', JSON.stringify(file));
  expect(parsed).toEqual({ kind: 'bad', problems: [expect.stringContaining(problem)] });
});

test('all problems of a file are said together', () => {
  const parsed = parsePolicy('p', '{"images": 3, "max": {"cpus": -1}, "what": 1}');
  expect(parsed.kind === 'bad' && parsed.problems).toHaveLength(3);
});

test('what is not JSON is said to be none', () => {
  expect(parsePolicy('p', '{')).toMatchObject({
    kind: 'bad',
    problems: [expect.stringMatching(/^p: expected JSON: /)],
  });
});

test('a file that changes is read again, and one that goes bad leaves the last good rules in force', async () => {
  const path = join(folder, 'policy.json');
  const logged: Gate['logged'] = [];
  await writeFile(path, '{"max": {"pids": 1}}');
  const opened = await openPolicyFile(path, collect(logged));
  if (opened.kind === 'bad') throw new Error(opened.problems.join());
  expect((await opened.file.current()).max.pids).toBe(1);

  await writeFile(`${path}.new`, '{"max": {"pids": 2}}');
  await rename(`${path}.new`, path);
  expect((await opened.file.current()).max.pids).toBe(2);

  await writeFile(path, '{"max": {"pids": "3"}}');
  expect((await opened.file.current()).max.pids).toBe(2);
  await rm(path);
  expect((await opened.file.current()).max.pids).toBe(2);
  await opened.file.current();
  expect(logged.map(({ level }) => level)).toEqual(['info', 'error', 'error']);

  await writeFile(path, '{"max": {"pids": 4}}');
  const both = await Promise.all([opened.file.current(), opened.file.current()]);
  expect(both.map(({ max }) => max.pids)).toEqual([4, 4]);
});

test('a file that is not there is a problem at the start', async () => {
  const opened = await openPolicyFile(join(folder, 'gone.json'), collect([]));
  expect(opened).toEqual({ kind: 'bad', problems: [expect.stringContaining('gone.json: cannot be read: ENOENT')] });
});
