import { describe, expect, test } from 'vitest';
import { busSlot } from '../../../src/model/bus-address.js';
import { FATAL_XIDS, XID_CODES, xidInWords } from '../../../src/model/xid.js';
import { createNvrmParser } from '../../../src/probe/kernel-log/parse-nvrm.js';
import { parseRecord } from '../../../src/probe/kernel-log/parse-record.js';

// The lines are those of public reports, with other addresses, names and numbers.

const parsed = (...lines: string[]): unknown[] => {
  const parse = createNvrmParser();
  return lines.map(parse).filter((event) => event !== null);
};
const xid = (code: number, slot = '0:4e:00') => ({ kind: 'xid', slot, code });

describe('a line of the module', () => {
  test.each([
    [
      'with a process',
      'NVRM: Xid (PCI:0000:4e:00): 31, pid=1896, name=python, Ch 00000010, intr 00000000. MMU Fault',
      31,
    ],
    [
      'of a process that nobody knows',
      "NVRM: Xid (PCI:0000:4e:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
      79,
    ],
    ['of an old driver', 'NVRM: Xid (0000:4e:00): 48, Channel 00000001', 48],
    ['of a slice', 'NVRM: Xid (PCI:0000:4e:00 GPU-I:05): 94, pid=77, name=python, Contained', 94],
    [
      'with a long domain',
      'NVRM: Xid (PCI:00000000:4E:00): 119, pid=1, name=nvidia-smi, Timeout after 6s of waiting for RPC response',
      119,
    ],
    ['with a function', 'NVRM: Xid (PCI:0000:4e:00.0): 74, pid=1, NVLink: fatal error detected on link 2', 74],
  ])('%s is an Xid', (_says, line, code) => expect(parsed(line)).toEqual([xid(code)]));

  test.each([
    ['an Xid that is none', 'NVRM: Xid error: xyz, invalid data'],
    ['an address that is none', 'NVRM: Xid (invalid): 79, some error'],
    ['another part of the kernel', 'EXT4-fs (md0): Xid (PCI:0000:4e:00): 79'],
    ['another word of the module', 'NVRM: GPU at PCI:0000:4e:00: GPU-0b11d014-0000-4000-8000-000000000001'],
    ['a card of which no address was told', 'NVRM: fallen off the bus and is not responding to commands.'],
  ])('%s says nothing', (_says, line) => expect(parsed(line)).toEqual([]));

  test('may tell without an Xid that a card has fallen off the bus', () => {
    expect(parsed('NVRM: GPU 0000:4e:00.0: GPU has fallen off the bus.')).toEqual([
      { kind: 'fallen_off', slot: '0:4e:00' },
    ]);
  });

  const THREE = [
    'NVRM: The NVIDIA GPU 0000:b3:00.0',
    'NVRM: (PCI ID: 10de:26b5) installed in this system has',
    'NVRM: fallen off the bus and is not responding to commands.',
  ];
  test.each([
    ['over three lines', THREE],
    ['in one record', [THREE.join('\n')]],
  ])('may tell it %s', (_says, lines) => {
    expect(parsed(...lines)).toEqual([{ kind: 'fallen_off', slot: '0:b3:00' }]);
  });

  test('tells when the module is loaded', () => {
    const line = 'NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  570.158.01  Release Build';
    expect(parsed(line)).toEqual([{ kind: 'driver_loaded' }]);
  });
});

test.each([
  ['6,2017,1080177925,-;veth0: left promiscuous mode', { order: 2017, text: 'veth0: left promiscuous mode' }],
  ['4,9,1,-,caller=T1;NVRM: a\\x0aNVRM: b', { order: 9, text: 'NVRM: a\nNVRM: b' }],
  ['[171167.620236] NVRM: Xid', { order: 171_167_620_236, text: 'NVRM: Xid' }],
  ['NVRM: Xid', { order: null, text: 'NVRM: Xid' }],
  [' SUBSYSTEM=pci', null],
  ['', null],
])('the record %j is read', (line, record) => expect(parseRecord(line)).toEqual(record));

test.each([
  ['00000000:4E:00.0', '0:4e:00'],
  ['PCI:0000:4e:00', '0:4e:00'],
  ['GPU0000:4E:00.0', '0:4e:00'],
  ['4e:00.0', '0:4e:00'],
  ['0009:01:00', '9:01:00'],
  ['nonsense', null],
])('the address %s is the slot %s', (address, slot) => expect(busSlot(address)).toBe(slot));

describe('the codes', () => {
  test('each has one verdict, in order', () => {
    const codes = XID_CODES.map(({ code }) => code);
    expect(codes).toEqual([...new Set(codes)].toSorted((a, b) => a - b));
  });

  test('of hardware take a card out, those of a program do not', () => {
    expect(FATAL_XIDS).toEqual(expect.arrayContaining([48, 62, 64, 74, 79, 95, 119, 120, 140, 143]));
    for (const code of [13, 31, 43, 45, 63, 94]) expect(FATAL_XIDS).not.toContain(code);
  });

  test('are told in words where they are known', () => {
    expect([xidInWords(79), xidInWords(999)]).toEqual(['Xid 79 (the card has fallen off the bus)', 'Xid 999']);
  });
});
