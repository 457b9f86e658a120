import { expect, test } from 'vitest';
import { doubtfulRules } from '../../src/policy/doubtful-rules.js';
import type { LookAt } from '../../src/policy/paths-on-disk.js';
import { parsePolicy } from '../../src/policy/policy-file.js';

/** A machine on which everything is root's but the homes, and everybody may write /shared. */
const lookAt: LookAt = async (path) => ({
  kind: 'folder',
  owner: path.startsWith('/home/') ? 1000 : 0,
  mode: path === '/shared' ? 0o1777 : 0o755,
});

async function doubts(file: object): Promise<readonly string[]> {
  const parsed = parsePolicy('p', JSON.stringify(file));
  if (parsed.kind === 'bad') throw new Error(parsed.problems.join('\n'));
  return doubtfulRules(parsed.value, lookAt);
}

test.each<[string, object]>([
  ['no mounts at all', {}],
  ['roots for reading, and any user', { mounts: [{ root: '/data', read_only: true }] }],
  ['roots to write, and users by name', { mounts: [{ root: '/scratch/*' }], users: ['1000:1000'] }],
])('%s is no doubt', async (_says, file) => {
  expect(await doubts(file)).toEqual([]);
});

test('roots to write without a word of users are told, all of them', async () => {
  const mounts = [{ root: '/scratch/*' }, { root: '/data', read_only: true }, { root: '/out' }];
  expect(await doubts({ mounts })).toEqual([
    expect.stringMatching(/^jobs may write \/scratch\/\*, \/out as root, since the policy says nothing of users/),
  ]);
  expect(await doubts({ mounts, users: ['*'] })).toHaveLength(1);
});

test('a root that its neighbour can turn into a link is told, and one whose folders are never given', async () => {
  const mounts = [
    { root: '/home/alice/data', read_only: true },
    { root: '/home', read_only: true },
    { root: '/shared/*' },
  ];
  expect(await doubts({ mounts, users: ['1:1'] })).toEqual([
    'the root /home/alice/data can be turned into a link to anywhere by others than root: /home/alice belongs to the user 1000, not to root',
    'no folder of the root /shared/* can ever be mounted: /shared can be written by others (mode 1777)',
  ]);
});
