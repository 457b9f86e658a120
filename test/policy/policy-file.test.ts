import { chmod, chown, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parseRequest } from '../../src/admit/request.js';
import { openPolicyFile, parsePolicy } from '../../src/policy/policy-file.js';
import { RULES_WITHOUT_A_FILE } from '../../src/policy/policy-rules.js';
import { createPolicy } from '../../src/policy/policy.js';
import { collect, type Gate } from '../http/gate.js';
import { nothingOffLimits } from '../support/off-limits.js';

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
    'p: /mounts/0/root: /data/sets lies in /data, which jobs may write: it can never be mounted',
  ],
  [
    'a root in each of those that jobs may write',
    { mounts: [{ root: '/data/*' }, { root: '/data/a/b', read_only: true }] },
    'p: /mounts/1/root: /data/a/b lies in /data/*, which jobs may write: it can never be mounted',
  ],
  [
    'the folders of a root that jobs may write',
    { mounts: [{ root: '/data' }, { root: '/data/*', read_only: true }] },
    'p: /mounts/1/root: /data/* lies in /data, which jobs may write: it can never be mounted',
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
  [
    'a ulimit that is misspelt, which would bound nothing',
    { max: { ulimits: { nofiles: 1 } } },
    'p: /max/ulimits/nofiles: expected one of core, cpu, data',
  ],
  [
    'a ulimit without a limit',
    { max: { ulimits: { nofile: -1 } } },
    'p: /max/ulimits/nofile: expected a whole number, 0',
  ],
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

describe('while the gate runs', () => {
  let logged: Gate['logged'] = [];
  let path = '';
  let now = 1000;
  let file: Extract<Awaited<ReturnType<typeof openPolicyFile>>, { kind: 'good' }>['file'];
  beforeEach(async () => {
    logged = [];
    now = 1000;
    path = join(folder, 'policy.json');
    await rm(path, { force: true });
    await writeFile(path, '{"max": {"pids": 1}}', { mode: 0o644 });
    const opened = await openPolicyFile(path, { clock: { now: () => now }, log: collect(logged) });
    if (opened.kind === 'bad') throw new Error(opened.problems.join());
    ({ file } = opened);
  });
  const pids = async (): Promise<number | undefined> => (await file.current())?.max.pids;

  test('a file that changes is read again', async () => {
    expect(await pids()).toBe(1);
    await writeFile(`${path}.new`, '{"max": {"pids": 2}}');
    await rename(`${path}.new`, path);
    expect(await Promise.all([pids(), pids()])).toEqual([2, 2]);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['says what it cannot', () => writeFile(path, '{"max": {"pids": "3"}}')],
    ['is no JSON', () => writeFile(path, '{"max": ')],
    ['can be written by everybody', () => chmod(path, 0o602)],
    ['can be written by others', () => chmod(path, 0o622)],
    ["is another user's", () => chown(path, 1000, 1000)],
    ['is a folder', () => rm(path).then(() => mkdir(path))],
  ])('one that %s leaves the last good rules in force, and says so', async (_says, spoil) => {
    now = 2000;
    await spoil();
    expect([await pids(), await pids()]).toEqual([1, 1]);
    expect(file.status()).toEqual({ file: 'policy', inForce: 'as_before', readAtMs: 1000 });
    expect(logged.filter(({ level }) => level === 'error')).toMatchObject([
      { sentence: 'the policy file cannot be used; its last good content stays in force' },
    ]);
    await rm(path, { recursive: true });
    await writeFile(path, '{"max": {"pids": 4}}');
    expect(await pids()).toBe(4);
    expect(file.status()).toEqual({ file: 'policy', inForce: 'as_written', readAtMs: 2000 });
  });

  test.each<[string, () => Promise<void>]>([
    ['gone', () => rm(path)],
    ['empty', () => writeFile(path, '')],
  ])('by one that is %s nothing may be asked for', async (_says, spoil) => {
    await spoil();
    expect(await file.current()).toBe(null);
    expect(file.status()).toMatchObject({ inForce: 'nothing' });
    const policy = createPolicy({ rules: () => file.current(), offLimits: nothingOffLimits });
    const request = parseRequest({ run_id: 'a', count: 0, container: { image: 'x' } });
    expect('kind' in request || (await policy(request))).toMatchObject({
      code: 'policy_denied',
      detail: 'the policy file of this machine is missing or empty, so nothing may be requested until it is back',
    });
  });
});

test.each([
  ['is not there', 'gone.json', null, /gone.json: cannot be read: ENOENT/],
  ['is empty', 'empty.json', 0o600, /empty.json: is empty/],
  ['others can write', 'open.json', 0o622, /open.json: can be written by others \(mode 622\)/],
])('a file that %s is a problem at the start', async (_says, name, mode, words) => {
  const path = join(folder, name);
  if (mode !== null) await writeFile(path, mode === 0o622 ? '{}' : '');
  if (mode !== null) await chmod(path, mode);
  const opened = await openPolicyFile(path, { clock: { now: () => 0 }, log: collect([]) });
  expect(opened).toEqual({ kind: 'bad', problems: [expect.stringMatching(words)] });
});
