import { describe, expect, test } from 'vitest';
import {
  claimFileName,
  readClaim,
  readClaimFileName,
  writeClaim,
  type Claim,
} from '../../../src/runtime/process/claim-file.js';
import {
  kernelName,
  liveProcess,
  liveProcesses,
  namespaceIn,
  namespaceOf,
  parseNumbers,
  parseStat,
  sameBoot,
} from '../../../src/runtime/process/kernel.js';
import { hidesProcesses } from '../../../src/runtime/process/processes-below.js';

const ID = '0123456789abcdef0123456789abcdef';
const KERNEL = `${'b'.repeat(32)}-4026531836`;

describe("a claim file's name", () => {
  test.each([
    [{ kind: 'created' }, `${ID}.created`],
    [{ kind: 'removing' }, `${ID}.removing`],
    [{ kind: 'run', kernel: KERNEL, pid: 42, startTicks: '4711' }, `${ID}.run.${KERNEL}.42.4711`],
  ] as const)('tells %j and back', (standing, name) => {
    expect(claimFileName(ID, standing)).toBe(name);
    expect(readClaimFileName(name)).toEqual({ id: ID, standing });
  });

  test.each([`${ID}.output`, `${ID}.pid`, `${ID}.exit`, `${ID}.created.old`, 'created', `${ID}.run.x.1.2`])(
    '%s is none',
    (name) => expect(readClaimFileName(name)).toBeNull(),
  );
});

describe('a claim', () => {
  const claim: Claim = {
    id: ID,
    name: 'tuneplane-train',
    createdAtMs: 1,
    labels: { a: 'b' },
    command: ['/bin/sh', '-c', 'echo "two\nlines"'],
    env: { A: 'é' },
    workingDir: '/',
  };

  test('reads as it was written', () => expect(readClaim(writeClaim(claim), ID)).toEqual(claim));

  test.each([
    ['of another id', writeClaim({ ...claim, id: 'f'.repeat(32) }), /expected the claim/],
    ['cut short', writeClaim(claim).slice(0, 40), /JSON/],
    ['of a later form', writeClaim(claim).replace('"version": 1', '"version": 2'), /expected a claim/],
  ])('%s is refused', (_says, text, words) => expect(() => readClaim(text, ID)).toThrow(words));
});

describe('the kernel', () => {
  const stat = (state: string, threads: number) =>
    `77 (a) b (c) ${state} 1 77 70 0 -1 4194304 100 0 0 0 0 0 0 0 20 0 ${threads} 0 444539 3133440 390`;

  test.each([
    ['a process that sleeps', stat('S', 1), { pid: 77, session: 70, startTicks: '444539' }],
    ['one that is stopped', stat('T', 1), { pid: 77, session: 70, startTicks: '444539' }],
    ['one that is dead and not yet reaped', stat('Z', 1), null],
    [
      'one whose first thread ended and whose others work',
      stat('Z', 4),
      { pid: 77, session: 70, startTicks: '444539' },
    ],
    ['no line of stat', 'hello', null],
  ])('shows %s', (_says, text, seen) => expect(parseStat(text)).toEqual(seen));

  test('knows this process, among all', () => {
    const own = liveProcess(process.pid);
    expect(own).toMatchObject({ pid: process.pid });
    expect(liveProcesses()).toContainEqual(own);
    expect(liveProcess(2 ** 22 + 1)).toBeNull();
  });

  test.each([
    ['a process below ours', 'NSpid:\t12601\t20\nNSsid:\t12590\t0\n', { pids: [12601, 20], sessions: [12590, 0] }],
    ['one of ours', 'Name:\tx\nNSpid:\t7\nNSpgid:\t7\nNSsid:\t1\nKthread:\t0\n', { pids: [7], sessions: [1] }],
    ['one that calls itself like the line', 'Name:\tNSpid:\\t1\nNSpid:\t7\nNSsid:\t7\n', { pids: [7], sessions: [7] }],
    ['nothing where the kernel is too old to say', 'Name:\tx\nPid:\t7\n', { pids: [], sessions: [] }],
  ])('numbers %s', (_says, status, numbers) => expect(parseNumbers(status)).toEqual(numbers));

  test.each([
    ['nobody', '21 26 0:20 / /proc rw,relatime - proc proc rw', false],
    ['nobody, by its own word', '21 26 0:20 / /proc rw - proc proc rw,gid=4,hidepid=off', false],
    ['nobody, by its number', '21 26 0:20 / /proc rw - proc proc rw,hidepid=0', false],
    ['others', '21 26 0:20 / /proc rw - proc proc rw,hidepid=invisible', true],
    ['others, by its number', '21 26 0:20 / /proc rw shared:5 - proc proc rw,hidepid=2,gid=4', true],
    [
      'others, in an earlier mount',
      '21 26 0:20 / /proc rw - proc proc rw,hidepid=1\n22 21 0:21 / /proc rw - proc proc rw',
      true,
    ],
    ['whom, nobody can tell where it is no mount', '26 1 0:20 / / rw - ext4 /dev/vda rw', true],
  ])('hides %s', (_says, mountinfo, hides) => expect(hidesProcesses(mountinfo)).toBe(hides));

  test('has one name while it runs', async () => {
    const name = await kernelName();
    expect(name).toMatch(/^[0-9a-f]{32}-\d+$/);
    expect(await kernelName()).toBe(name);
    expect(sameBoot(name, name.replace(/\d+$/, '1'))).toBe(true);
    expect(sameBoot(name, KERNEL)).toBe(false);
    expect(namespaceIn(`pid:[${namespaceOf(name)}]`)).toBe(namespaceOf(name));
    expect(namespaceIn('mnt:[4026531832]')).toBeNull();
  });
});
