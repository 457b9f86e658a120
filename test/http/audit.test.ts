import { mkdir, mkdtemp, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openAudit } from '../../src/http/audit.js';
import type { AuditEntry } from '../../src/model/ports/audit.js';
import { collect, type Gate } from './gate.js';

const entry: AuditEntry = {
  at: '2026-11-29T12:00:00.000Z',
  action: 'admit',
  principal: 'console',
  remote: '10.0.0.1',
  runId: 'train-17',
  outcome: 'admitted',
  detail: null,
  count: 1,
  image: 'a\nb',
  cards: ['GPU-0'],
  containerId: 'c0ffee',
  tookMs: 12,
};

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'audit-'));
});
afterAll(() => rm(folder, { recursive: true }));

test('every entry is one line of JSON, in a file that others cannot read', async () => {
  const path = join(folder, 'audit.log');
  const audit = openAudit(path, collect([]));
  audit.write(entry);
  audit.write({ ...entry, runId: null });
  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
  expect(lines).toHaveLength(2);
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    audit: 'admit',
    at: '2026-11-29T12:00:00.000Z',
    principal: 'console',
    remote: '10.0.0.1',
    run_id: 'train-17',
    outcome: 'admitted',
    detail: null,
    count: 1,
    image: 'a\nb',
    cards: ['GPU-0'],
    container_id: 'c0ffee',
    took_ms: 12,
  });
  expect((await stat(path)).mode & 0o007).toBe(0);
});

test('what a terminal would heed is written out, so that a line shown by `tail` cannot hide or forge another', async () => {
  const path = join(folder, 'hostile.log');
  const image = 'a\u009B2J\u202Eb\u0085\u2028{"audit":"admit"}\u{E0041}';
  openAudit(path, collect([])).write({ ...entry, image });
  const text = await readFile(path, 'utf8');
  expect(text).not.toMatch(/[\u007F-\u009F\p{Cf}\p{Zl}\p{Zp}]/u);
  expect(JSON.parse(text)).toMatchObject({ image });
});

test.each<[string, (path: string) => unknown, RegExp]>([
  ['a pipe that nobody reads', (path) => execa('mkfifo', [path]), /TUNEPLANE_AUDIT_FILE: ENXIO.*it is a pipe/],
  [
    'a link, wherever it leads',
    (path) => symlink(join(folder, 'elsewhere'), path),
    /ELOOP.*a link, which is not followed/,
  ],
  ['a folder', (path) => mkdir(path), /EISDIR/],
  [
    'a device',
    (path) => execa('mknod', [path, 'c', '1', '3']),
    /is no file; without a file the audit goes to standard/,
  ],
])('%s in its place is refused at the start, at once', async (_says, put, words) => {
  const place = join(await mkdtemp(join(folder, 'place-')), 'audit.log');
  await put(place);
  expect(() => openAudit(place, collect([]))).toThrow(words);
  await expect(stat(join(folder, 'elsewhere'))).rejects.toThrow('ENOENT');
});

test('a pipe or a link that is put in its place later is not written on, and the line is logged', async () => {
  const logged: Gate['logged'] = [];
  const path = join(folder, 'replaced.log');
  const audit = openAudit(path, collect(logged));
  await rm(path);
  await symlink(join(folder, 'elsewhere'), path);
  audit.write(entry);
  await rm(path);
  await execa('mkfifo', [path]);
  audit.write(entry);
  await expect(stat(join(folder, 'elsewhere'))).rejects.toThrow('ENOENT');
  expect(logged).toMatchObject([
    { level: 'error', data: { entry } },
    { level: 'error', data: { entry } },
  ]);
});

test('after a rotation lines go into the new file', async () => {
  const path = join(folder, 'rotated.log');
  const audit = openAudit(path, collect([]));
  audit.write(entry);
  await rename(path, `${path}.1`);
  audit.write(entry);
  for (const each of [path, `${path}.1`]) expect((await readFile(each, 'utf8')).split('\n')).toHaveLength(2);
});

test('a file that cannot be written is refused at the start, and later a line is logged instead of lost', async () => {
  expect(() => openAudit(join(folder, 'no/such/folder'), collect([]))).toThrow('ENOENT');
  const logged: Gate['logged'] = [];
  const inside = await mkdtemp(join(folder, 'inside-'));
  const audit = openAudit(join(inside, 'audit.log'), collect(logged));
  await rm(inside, { recursive: true });
  audit.write(entry);
  expect(logged).toMatchObject([{ level: 'error', data: { entry } }]);
});
