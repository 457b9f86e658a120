import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { cardIndex, cardUuid } from '../../../src/model/card.js';
import type { XidRecord, XidStore } from '../../../src/model/ports/xid-store.js';
import type { RememberedCard } from '../../../src/model/snapshot.js';
import { FATAL_XIDS } from '../../../src/model/xid.js';
import { createKernelLog, type KernelLog, type KernelLogParts } from '../../../src/probe/kernel-log/kernel-log.js';
import { openLog } from '../../../src/probe/kernel-log/read-lines.js';
import { movableClock, recordingLog } from '../nvidia-smi/program.js';

const CARDS: readonly RememberedCard[] = [
  { uuid: cardUuid('GPU-a'), index: cardIndex(0), name: 'H100', pciBusId: '00000000:1B:00.0' },
  { uuid: cardUuid('GPU-b'), index: cardIndex(1), name: 'H100', pciBusId: '00000000:4E:00.0' },
];

let folder: string;
let path: string;
let saved: XidRecord | null;
let counted: string[];
const open: KernelLog[] = [];
const clock = movableClock();

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kernel-log-'));
  path = join(folder, 'kmsg');
  saved = null;
  counted = [];
  order = 100;
});
afterEach(() => {
  for (const each of open.splice(0)) each.close();
  rmSync(folder, { recursive: true });
});

const store: XidStore = {
  load: () => saved,
  save: (record) => {
    saved = record;
  },
};
function reader(but: Partial<KernelLogParts> = {}): KernelLog {
  const made = createKernelLog({
    path,
    fatal: FATAL_XIDS,
    bootId: 'boot-1',
    store,
    onXid: (uuid, code) => counted.push(`${uuid ?? 'nobody'} ${code}`),
    onGap: () => counted.push('gap'),
    clock,
    log: recordingLog(),
    ...but,
  });
  open.push(made);
  return made;
}

let order = 100;
const record = (text: string): string => `4,${(order += 1)},${order}000,-;${text}\n`;
const xid = (code: number, slot = '0000:4e:00'): string => record(`NVRM: Xid (PCI:${slot}): ${code}, pid=1, words`);
const found = (log: KernelLog, cards = CARDS): string[] =>
  log.look(cards).xids.map(({ uuid, slot, code }) => `${uuid ?? slot} ${code}`);

describe('the reader', () => {
  test('finds what was there before it, and what comes after', () => {
    writeFileSync(path, xid(48) + record('something else'));
    const log = reader();
    expect(found(log)).toEqual(['GPU-b 48']);
    appendFileSync(path, xid(31) + xid(79, '0000:1b:00'));
    expect(found(log)).toEqual(['GPU-b 48', 'GPU-a 79']);
    expect(counted).toEqual(['GPU-b 48', 'GPU-b 31', 'GPU-a 79']);
  });

  test('counts the codes of programs and finds nothing against their card', () => {
    writeFileSync(path, [13, 31, 43, 45].map((code) => xid(code)).join(''));
    expect(found(reader())).toEqual([]);
    expect(counted).toEqual(['GPU-b 13', 'GPU-b 31', 'GPU-b 43', 'GPU-b 45']);
  });

  test('goes by the setting', () => {
    writeFileSync(path, xid(31) + xid(79));
    expect(found(reader({ fatal: [31] }))).toEqual(['GPU-b 31']);
  });

  test('takes a line once it is whole', () => {
    const line = xid(79);
    writeFileSync(path, line.slice(0, 30));
    const log = reader();
    expect(found(log)).toEqual([]);
    appendFileSync(path, line.slice(30));
    expect(found(log)).toEqual(['GPU-b 79']);
  });

  test('waits for the cards, so that an address has a name', () => {
    writeFileSync(path, xid(79));
    const log = reader();
    expect(found(log, [])).toEqual([]);
    expect(found(log)).toEqual(['GPU-b 79']);
  });

  test('keeps an Xid at an address where no card is known', () => {
    writeFileSync(path, xid(79, '0000:99:00'));
    expect(found(reader())).toEqual(['0:99:00 79']);
    expect(counted).toEqual(['nobody 79']);
  });

  test('counts a card that fell off the bus once, however often it is told', () => {
    writeFileSync(path, xid(79) + record('NVRM: GPU 0000:4e:00.0: GPU has fallen off the bus.'));
    expect(found(reader())).toEqual(['GPU-b 79']);
    expect(counted).toEqual(['GPU-b 79']);
  });

  test('never waits for a FIFO that nobody writes to', () => {
    execFileSync('mkfifo', [path]);
    const log = reader();
    expect(log.look(CARDS)).toMatchObject({ kernel: { kind: 'seen' }, xids: [] });
    const writer = openSync(path, constants.O_WRONLY);
    expect(found(log)).toEqual([]);
    writeSync(writer, xid(79));
    expect(found(log)).toEqual(['GPU-b 79']);
    closeSync(writer);
    expect(found(log)).toEqual(['GPU-b 79']);
  });

  test('that has nothing to read is off and says why, and tries again later', () => {
    const log = reader();
    expect(log.look(CARDS).kernel).toEqual({ kind: 'off', detail: expect.stringContaining('ENOENT') });
    writeFileSync(path, xid(79));
    expect(found(log)).toEqual([]);
    clock.forward(60_001);
    expect(found(log)).toEqual(['GPU-b 79']);
  });

  test('that is switched off is off', () => {
    expect(reader({ path: null }).look(CARDS)).toEqual({ kernel: { kind: 'off' }, xids: [] });
  });

  test('of a folder is off, not a crash', () => {
    expect(reader({ path: folder }).look(CARDS).kernel.kind).not.toBe('seen');
  });
});

describe('lines that the kernel overwrote before they were read', () => {
  /** As `/dev/kmsg` does: EPIPE instead of the read that is named, and what is left with the next. */
  const overtaken = (...reads: number[]): Pick<KernelLogParts, 'open'> => {
    let count = 0;
    return {
      open: (from) =>
        openLog(from, (...how) => {
          count += 1;
          if (reads.includes(count)) throw Object.assign(new Error('EPIPE: broken pipe, read'), { code: 'EPIPE' });
          return readSync(...how);
        }),
    };
  };

  test('are counted, and what comes after them is read in the same look', () => {
    writeFileSync(path, xid(79) + xid(48, '0000:1b:00'));
    const log = reader(overtaken(1, 2));
    expect(log.look(CARDS)).toMatchObject({
      kernel: { kind: 'seen' },
      xids: [
        { uuid: 'GPU-b', code: 79 },
        { uuid: 'GPU-a', code: 48 },
      ],
    });
    expect(counted).toEqual(['gap', 'gap', 'GPU-b 79', 'GPU-a 48']);
  });

  test('are told once an hour', () => {
    writeFileSync(path, xid(79));
    const said = recordingLog();
    const log = reader({ ...overtaken(1, 4, 6), log: said, fatal: [] });
    const lost = expect.stringContaining('some lines are lost');
    log.look(CARDS);
    log.look(CARDS);
    expect([counted, said.sentences]).toEqual([['gap', 'GPU-b 79', 'gap'], [lost]]);
    clock.forward(3_600_001);
    log.look(CARDS);
    expect([counted, said.sentences]).toEqual([
      ['gap', 'GPU-b 79', 'gap', 'gap'],
      [lost, lost],
    ]);
  });
});

describe('what was found', () => {
  test('stays over a restart of the gate, and is not counted again', () => {
    writeFileSync(path, xid(79) + xid(31));
    reader().look(CARDS);
    counted = [];
    expect(found(reader())).toEqual(['GPU-b 79']);
    expect(counted).toEqual([]);
  });

  test('ends by an operator’s word, and the ring does not bring it back', () => {
    writeFileSync(path, xid(79) + xid(48, '0000:1b:00'));
    const log = reader();
    log.look(CARDS);
    expect(log.clear(cardUuid('GPU-b'))).toBe(true);
    expect(log.clear(cardUuid('GPU-b'))).toBe(false);
    expect(found(log)).toEqual(['GPU-a 48']);
    expect(found(reader())).toEqual(['GPU-a 48']);
    appendFileSync(path, xid(79));
    expect(found(log)).toEqual(['GPU-a 48', 'GPU-b 79']);
  });

  test('ends with a new boot', () => {
    writeFileSync(path, xid(79));
    reader().look(CARDS);
    order = 0;
    writeFileSync(path, xid(31));
    expect(found(reader({ bootId: 'boot-2' }))).toEqual([]);
    expect(counted).toEqual(['GPU-b 79', 'GPU-b 31']);
  });

  test('ends with a new load of the driver', () => {
    writeFileSync(path, xid(79));
    const log = reader();
    log.look(CARDS);
    appendFileSync(path, record('NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.54.15') + xid(48, '0000:1b:00'));
    expect(found(log)).toEqual(['GPU-a 48']);
  });

  test('stays with the card when its address goes to another', () => {
    writeFileSync(path, xid(79));
    const log = reader();
    log.look(CARDS);
    const moved = [{ ...CARDS[0]!, pciBusId: '00000000:4E:00.0' }];
    expect(found(log, moved)).toEqual(['GPU-b 79']);
  });

  test('is one for each code and card, with the last line', () => {
    writeFileSync(path, xid(79) + record('NVRM: Xid (PCI:0000:4e:00): 79, the last word'));
    const { xids } = reader().look(CARDS);
    expect(xids).toMatchObject([{ line: 'NVRM: Xid (PCI:0000:4e:00): 79, the last word' }]);
  });
});
