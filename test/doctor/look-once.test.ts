import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { lookOnce } from '../../src/doctor/look-once.js';
import { cardIndex, cardUuid } from '../../src/model/card.js';
import { readBootId } from '../../src/probe/kernel-log/boot-id.js';
import { readSettings } from '../../src/settings/settings.js';
import { EXCLUSION_ENDS, EXCLUSIONS, REMEMBERED_CARDS, XID_RECORD } from '../../src/state/file-formats.js';
import { systemClock } from '../../src/time/system-clock.js';
import { busOf, fakeSmi, uuidOf } from '../probe/nvidia-smi/fake-smi.js';
import { createScriptFolder } from '../probe/nvidia-smi/program.js';

const scripts = createScriptFolder();
const state = mkdtempSync(join(tmpdir(), 'look-once-'));
afterAll(() => {
  scripts.cleanUp();
  rmSync(state, { recursive: true });
});

test('without a gate the cards are judged by one look and by what a gate has kept', async () => {
  const remembered = [1, 4].map((at) => ({
    uuid: cardUuid(uuidOf(at)),
    index: cardIndex(at),
    name: 'H100',
    pciBusId: busOf(at),
  }));
  const xid = { uuid: uuidOf(1), slot: '0:11:00', code: 79, line: 'NVRM: Xid' };
  const exclusion = (at: number, since: string) => ({
    uuid: cardUuid(uuidOf(at)),
    reason: 'fan',
    since,
    principal: 'ann',
  });
  const [lasting, over] = ['2026-12-01T00:00:00.000Z', '2020-01-01T00:00:00.000Z'];
  writeFileSync(join(state, REMEMBERED_CARDS.fileName), REMEMBERED_CARDS.print(remembered));
  writeFileSync(join(state, EXCLUSIONS.fileName), EXCLUSIONS.print([exclusion(2, lasting), exclusion(0, over)]));
  const ends = [{ uuid: cardUuid(uuidOf(0)), since: over, until: '2020-01-02T00:00:00.000Z' }];
  writeFileSync(join(state, EXCLUSION_ENDS.fileName), EXCLUSION_ENDS.print(ends));
  writeFileSync(
    join(state, XID_RECORD.fileName),
    XID_RECORD.print([{ bootId: readBootId(), upTo: 9, findings: [xid] }]),
  );
  const env = { TUNEPLANE_NVIDIA_SMI: fakeSmi(scripts, 3).program, TUNEPLANE_STATE_DIR: state };
  const read = readSettings(env, [], { terminal: false });
  if (read.kind === 'problems') throw new Error(read.problems.join('\n'));
  const cards = await lookOnce(read.settings, env, systemClock);
  expect(cards.map(({ state: is, unhealthy }) => [is, ...unhealthy.map(({ reason }) => reason)])).toEqual([
    ['free'],
    ['unhealthy', 'xid'],
    ['excluded'],
    ['unhealthy', 'missing'],
  ]);
});
