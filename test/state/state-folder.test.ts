import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { cardIndex, cardUuid } from '../../src/model/card.js';
import type { Exclusion, RememberedCard } from '../../src/model/snapshot.js';
import { lockFolder } from '../../src/state/folder-lock.js';
import { openStateFolder, type StateFolder, type StateFolderParts } from '../../src/state/state-folder.js';
import { defaultStateFolders } from '../../src/state/usable-folder.js';
import { buildOtherGate, startOtherGate } from '../lock/other-gate.js';
import { emptyFolder, pushableClock, type RecordingLog, recordingLog } from '../lock/outside.js';
import { until } from '../lock/until.js';

let top: string;
let folder: string;
let log: RecordingLog;
const open: Extract<StateFolder, { kind: 'open' }>[] = [];

beforeEach(() => {
  top = emptyFolder();
  folder = join(top, 'state');
  log = recordingLog();
});
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
  rmSync(top, { recursive: true, force: true });
});

async function tryToOpen(over: Partial<StateFolderParts> = {}): Promise<StateFolder> {
  const state = await openStateFolder({ candidates: [folder], instanceId: null, clock: pushableClock(), log, ...over });
  if (state.kind === 'open') open.push(state);
  return state;
}

async function opened(over: Partial<StateFolderParts> = {}): Promise<Extract<StateFolder, { kind: 'open' }>> {
  const state = await tryToOpen(over);
  if (state.kind === 'refused') throw new Error(state.detail);
  return state;
}

async function reopened(): Promise<Extract<StateFolder, { kind: 'open' }>> {
  await open.pop()?.close();
  return opened();
}

const card = (index: number): RememberedCard => ({
  uuid: cardUuid(`GPU-${index}`),
  index: cardIndex(index),
  name: 'NVIDIA H100 80GB HBM3',
  pciBusId: `00000000:${index}B:00.0`,
});
const exclusion = (index: number, reason = 'fan is loud'): Exclusion => ({
  uuid: cardUuid(`GPU-${index}`),
  reason,
  since: '2026-11-29T12:00:00.000Z',
  principal: 'kim',
  until: null,
});
const read = (file: string): string => readFileSync(join(folder, file), 'utf8');

describe('where it lies', () => {
  test('a folder that is not there is made, for its owner alone', async () => {
    const state = await opened();
    expect(state.folder).toBe(folder);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'instance-id')).mode & 0o777).toBe(0o600);
    expect(log.lines).toEqual([]);
  });

  test('a folder that others may write is warned of and left as it is', async () => {
    mkdirSync(folder);
    chmodSync(folder, 0o777);
    await opened();
    expect(log.lines).toEqual([`warn: ${folder} can be written by others; chmod 0700 is what it should have`]);
    expect(statSync(folder).mode & 0o777).toBe(0o777);
  });

  test('the first place that can be written is taken', async () => {
    writeFileSync(join(top, 'file'), '');
    const state = await opened({ candidates: [join(top, 'file', 'state'), folder] });
    expect(state.folder).toBe(folder);
  });

  test('no place that can be written is refused, with each reason and what to do', async () => {
    writeFileSync(join(top, 'file'), '');
    const state = await tryToOpen({ candidates: [join(top, 'file', 'state'), '/proc/no-such/state'] });
    expect(state.kind).toBe('refused');
    const detail = state.kind === 'refused' ? state.detail : '';
    expect(detail).toContain(`${join(top, 'file', 'state')}: ENOTDIR`);
    expect(detail).toContain('/proc/no-such/state: ENOENT');
    expect(detail).toMatch(/Set TUNEPLANE_STATE_DIR to one that can\.$/);
  });

  test.each([
    ['the state folder of the user is where XDG says', { XDG_STATE_HOME: '/x/state' }, '/x/state/tuneplane-gpu-gate'],
    ['without XDG it is below the home', {}, '/home/kim/.local/state/tuneplane-gpu-gate'],
    ['a relative XDG path is passed over', { XDG_STATE_HOME: 'x' }, '/home/kim/.local/state/tuneplane-gpu-gate'],
  ])('%s, after the place of the system', (_says, env, users) => {
    expect(defaultStateFolders(env, '/home/kim')).toEqual(['/var/lib/tuneplane-gpu-gate', users]);
  });
});

describe('who holds it', () => {
  let program: string;
  let programs: string;
  beforeAll(async () => {
    programs = emptyFolder();
    // Another user runs it, too.
    chmodSync(programs, 0o755);
    program = await buildOtherGate(programs);
  });
  afterAll(() => {
    rmSync(programs, { recursive: true });
  });

  test('a second gate is refused while the first lives, by whatever path it comes', async () => {
    await opened();
    symlinkSync(folder, join(top, 'link'));
    const second = await tryToOpen({ candidates: [join(top, 'link'), join(top, 'never taken instead')] });
    expect(second).toMatchObject({ kind: 'refused' });
    expect(second.kind === 'refused' && second.detail).toMatch(
      /is in use by another live gate .* TUNEPLANE_STATE_DIR\.$/,
    );
  });

  test('a process in other namespaces is kept out as well', async () => {
    await opened();
    const elsewhere = spawnSync('unshare', ['--net', '--pid', '--fork', 'flock', '-n', join(folder, 'lock'), 'true']);
    expect(elsewhere.status).toBe(1);
  });

  test('a stranger who has the name that earlier gates took is no hindrance', async () => {
    await (await opened()).close();
    const { dev, ino } = statSync(folder, { bigint: true });
    const name = `tuneplane-gpu-gate/state-folder/${dev}-${ino}/`.padEnd(107, '.');
    const stranger = createServer().listen(`\0${name}`);
    await once(stranger, 'listening');
    expect(await tryToOpen()).toMatchObject({ kind: 'open' });
    stranger.close();
  });

  test('a link in place of the lock is not followed', async () => {
    mkdirSync(folder);
    symlinkSync(join(top, 'elsewhere'), join(folder, 'lock'));
    expect(await tryToOpen()).toMatchObject({ kind: 'refused', detail: expect.stringContaining('ELOOP') });
  });

  test('without the program flock nothing is opened, and that is said', async () => {
    mkdirSync(folder);
    expect(await lockFolder(folder, ['/nowhere/flock'])).toEqual({
      kind: 'failed',
      detail: `${join(folder, 'lock')} cannot be locked: the program flock (of util-linux) is not installed`,
    });
  });

  test('it is free again when the first has closed it; the file of the lock stays', async () => {
    const first = await opened();
    await first.close();
    expect(existsSync(join(folder, 'lock'))).toBe(true);
    expect((await opened()).instanceId).toBe(first.instanceId);
  });

  test('another process is refused while this one lives, and the reverse, until it is killed', async () => {
    const first = await opened();
    const refused = await startOtherGate(program, folder);
    expect(refused.answer).toMatchObject({ kind: 'refused' });
    await refused.kill();
    await first.close();

    const other = await startOtherGate(program, folder);
    expect(other.answer).toMatchObject({ kind: 'open', instanceId: first.instanceId });
    expect(await tryToOpen()).toMatchObject({ kind: 'refused' });
    await other.kill();
    expect(await tryToOpen()).toMatchObject({ kind: 'open', instanceId: first.instanceId });
  });

  test('a user who may not write the folder is refused with the reason', async () => {
    mkdirSync(folder, { mode: 0o755 });
    chmodSync(top, 0o755);
    // Only root can run a process as somebody else; anybody else cannot write below a folder of root's.
    const isRoot = process.getuid?.() === 0;
    const place = isRoot ? folder : '/usr/lib/tuneplane-gpu-gate-test';
    const other = await startOtherGate(program, place, isRoot ? { uid: 65534, gid: 65534 } : {});
    expect(other.answer.kind).toBe('refused');
    expect(other.answer.detail).toMatch(/EACCES|EROFS/);
    await other.kill();
  });
});

describe('the instance id', () => {
  test('is made once and kept', async () => {
    const first = await opened();
    expect(first.instanceId).toMatch(/^[0-9a-f-]{36}$/);
    expect((await reopened()).instanceId).toBe(first.instanceId);
  });

  test('that was asked for wins and does not write over the kept one', async () => {
    const kept = await opened();
    await open.pop()?.close();
    expect((await opened({ instanceId: 'gate-7' })).instanceId).toBe('gate-7');
    expect(read('instance-id').trim()).toBe(kept.instanceId);
  });

  test.each([['half\nof it'], [''], ['../../etc'], ['x'.repeat(200)]])(
    'that makes no sense (%j) is set aside and made anew',
    async (text) => {
      mkdirSync(folder);
      writeFileSync(join(folder, 'instance-id'), text);
      const state = await opened({ newId: () => 'made-anew' });
      expect(state.instanceId).toBe('made-anew');
      expect(read('instance-id')).toBe('made-anew\n');
      expect(readdirSync(folder).filter((name) => name.startsWith('instance-id.corrupt-'))).toHaveLength(1);
      expect(log.lines[0]).toMatch(/^error: .*instance-id cannot be read .* renamed to /);
    },
  );
});

describe('the cards seen', () => {
  test('are there again after a restart', async () => {
    (await opened()).cards.remember([card(0), card(1)]);
    expect((await reopened()).cards.remembered()).toEqual([card(0), card(1)]);
  });

  test('stand in memory at once', async () => {
    const { cards } = await opened();
    cards.remember([card(0)]);
    expect(cards.remembered()).toEqual([card(0)]);
  });

  test('are written only when they changed', async () => {
    const { cards } = await opened();
    cards.remember([card(0)]);
    await until('they are written', () => readdirSync(folder).includes('cards-seen.json'));
    const { ino } = statSync(join(folder, 'cards-seen.json'));
    for (let look = 0; look < 5; look += 1) cards.remember([card(0)]);
    await open.at(-1)?.close();
    expect(statSync(join(folder, 'cards-seen.json')).ino).toBe(ino);
  });

  test('that are forgotten stay forgotten, and it is told whether they were known', async () => {
    const state = await opened();
    state.cards.remember([card(0), card(1)]);
    expect(await state.cards.forget(card(0).uuid)).toBe(true);
    expect(await state.cards.forget(card(0).uuid)).toBe(false);
    expect(state.cards.remembered()).toEqual([card(1)]);
    expect((await reopened()).cards.remembered()).toEqual([card(1)]);
  });

  test('that are replaced while one is being forgotten are neither lost nor brought back', async () => {
    const { cards } = await opened();
    cards.remember([card(0), card(1)]);
    const forgetting = cards.forget(card(0).uuid);
    cards.remember([card(0), card(1), card(2)]);
    await forgetting;
    expect(cards.remembered()).toEqual([card(1), card(2)]);
    expect((await reopened()).cards.remembered()).toEqual([card(1), card(2)]);
  });

  test('that cannot be written are kept in memory, told once, and written when it can be again', async () => {
    const { cards } = await opened();
    // A folder in the way of the file cannot be renamed over, not even by root.
    mkdirSync(join(folder, 'cards-seen.json', 'in the way'), { recursive: true });
    cards.remember([card(0)]);
    cards.remember([card(0), card(1)]);
    await until('it is told', () => log.lines.length > 0);
    expect(cards.remembered()).toEqual([card(0), card(1)]);
    rmSync(join(folder, 'cards-seen.json'), { recursive: true });
    cards.remember([card(0), card(1)]);
    await until('they are written', () => readdirSync(folder).includes('cards-seen.json'));
    expect(log.lines.filter((line) => line.includes('cannot be written'))).toHaveLength(1);
    expect((await reopened()).cards.remembered()).toEqual([card(0), card(1)]);
  });
});

describe('the cards taken out', () => {
  test('are there again after a restart, each once, the last word first', async () => {
    const { cards } = await opened();
    await cards.exclude(exclusion(0));
    await cards.exclude(exclusion(1));
    await cards.exclude(exclusion(0, 'smells'));
    expect((await reopened()).cards.exclusions()).toEqual([exclusion(1), exclusion(0, 'smells')]);
  });

  test('are told whether they were out when they come back in', async () => {
    const { cards } = await opened();
    await cards.exclude(exclusion(0));
    expect(await cards.include(exclusion(0).uuid)).toBe(true);
    expect(await cards.include(exclusion(0).uuid)).toBe(false);
    expect((await reopened()).cards.exclusions()).toEqual([]);
  });

  test('by many at once are all taken out, in memory and on the disk', async () => {
    const { cards } = await opened();
    const all = Array.from({ length: 20 }, (_, index) => exclusion(index));
    await Promise.all([
      ...all.map((one) => cards.exclude(one)),
      ...all.slice(0, 10).map((one) => cards.include(one.uuid)),
    ]);
    expect(cards.exclusions()).toEqual(all.slice(10));
    expect((await reopened()).cards.exclusions()).toEqual(all.slice(10));
  });

  test('that cannot be kept are refused, and the card stays in', async () => {
    const { cards } = await opened();
    mkdirSync(join(folder, 'exclusions.json', 'in the way'), { recursive: true });
    await expect(cards.exclude(exclusion(0))).rejects.toThrow(/EISDIR|ENOTEMPTY/);
    expect(cards.exclusions()).toEqual([]);
    rmSync(join(folder, 'exclusions.json'), { recursive: true });
    await cards.exclude(exclusion(0));
    expect(cards.exclusions()).toEqual([exclusion(0)]);
  });

  test('are refused when the folder is gone', async () => {
    const { cards } = await opened();
    rmSync(folder, { recursive: true });
    await expect(cards.exclude(exclusion(0))).rejects.toThrow('ENOENT');
    await expect(cards.include(exclusion(0).uuid)).resolves.toBe(false);
  });
});

describe('a file that makes no sense', () => {
  test.each([
    ['cut short', '{"version":1,"entr'],
    ['empty', ''],
    ['of another version', '{"version":2,"entries":[]}'],
    ['with an entry of another form', '{"version":1,"entries":[{"uuid":"GPU-0"}]}'],
    ['with a key too many', '{"version":1,"entries":[],"more":1}'],
    ['of zeros, as after a power failure', '\0'.repeat(64)],
  ])('(%s) is set aside as it was, told, and begun anew', async (_says, text) => {
    mkdirSync(folder);
    for (const file of ['cards-seen.json', 'exclusions.json']) writeFileSync(join(folder, file), text);
    const { cards } = await opened();
    expect([cards.remembered(), cards.exclusions()]).toEqual([[], []]);
    const aside = readdirSync(folder).filter((name) => /^(cards-seen|exclusions)\.json\.corrupt-\d+$/.test(name));
    expect(aside.map(read)).toEqual([text, text]);
    expect(log.lines.filter((line) => line.startsWith('error: '))).toHaveLength(2);
    await cards.exclude(exclusion(0));
    expect((await reopened()).cards.exclusions()).toEqual([exclusion(0)]);
  });
});
