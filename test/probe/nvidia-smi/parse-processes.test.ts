import { describe, expect, test } from 'vitest';
import { parseProcesses } from '../../../src/probe/nvidia-smi/parse-processes.js';

const UUID = 'GPU-00000050-0000-4000-8000-000000000050';

describe('a process list', () => {
  test.each([
    [
      'a process',
      `${UUID}, 28411, /opt/venv/bin/python3, 70317`,
      { pid: 28411, name: '/opt/venv/bin/python3', memoryMib: 70317 },
    ],
    [
      'a name with commas and quotes',
      `${UUID}, 5, run "a", b, 12, 9`,
      { pid: 5, name: 'run "a", b, 12', memoryMib: 9 },
    ],
    ['a process without a name', `${UUID}, 5, , 9`, { pid: 5, name: '', memoryMib: 9 }],
    [
      'a dead one that still holds memory',
      `${UUID}, 28290, [Not Found], 10900`,
      { pid: 28290, name: '[Not Found]', memoryMib: 10900 },
    ],
    ['one whose memory cannot be told', `${UUID}, 7, python, [N/A]`, { pid: 7, name: 'python', memoryMib: null }],
    ['units left in', `${UUID}, 7, python, 12 MiB`, { pid: 7, name: 'python', memoryMib: 12 }],
    ['a row that breaks off after its pid', `${UUID}, 7`, { pid: 7, name: '', memoryMib: null }],
  ])('counts %s', (_says, line, process) => {
    expect(parseProcesses(`${line}\r\n`)).toEqual({
      processes: [{ uuid: UUID, ...process }],
      unreadable: 0,
      unlisted: [],
      remarks: [],
    });
  });

  test.each([
    ['of a slice are told and fail nothing', 'MIG-4c1b6f4e-0000-5000-8000-000000000001, 4242, python, 812\n', ['MIG']],
    ['that are no rows are told', 'WARNING: infoROM is corrupted at gpu 0000:02:00.0\n', ['infoROM is corrupted']],
  ])('rows %s', (_says, text, words) => {
    const { remarks, ...rest } = parseProcesses(`${UUID}, 7, python, 12\n${text}`);
    expect(rest).toEqual({
      processes: [{ uuid: UUID, pid: 7, name: 'python', memoryMib: 12 }],
      unreadable: 0,
      unlisted: [],
    });
    expect(remarks).toEqual(words.map((word) => expect.stringContaining(word)));
  });

  test('takes no number with a point for whole ones', () => {
    expect(parseProcesses(`${UUID}, 7, python, 1.250\n`).processes[0]?.memoryMib).toBeNull();
  });

  test.each([
    ['the sentence of an empty list', 'No running processes found\n', 0, []],
    ['a header', 'gpu_uuid, pid, process_name, used_gpu_memory [MiB]\n', 0, []],
    ['nothing', '', 0, []],
    ['a card whose list cannot be read', `${UUID}, [N/A], [N/A], [N/A]\n`, 1, [UUID]],
    ['a lost card', '[GPU is lost], [GPU is lost], [GPU is lost], [GPU is lost]\n', 1, []],
    ['a row that is of no card', 'thon, 5, x, 9\n', 1, []],
  ])('has no process in %s', (_says, text, unreadable, unlisted) => {
    expect(parseProcesses(text)).toMatchObject({ processes: [], unreadable, unlisted });
  });
});
