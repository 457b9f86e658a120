import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readingOf } from '../../../src/model/columns.js';
import type { Reading } from '../../../src/model/snapshot.js';
import { parseGpuRows } from '../../../src/probe/nvidia-smi/parse-gpu-rows.js';
import { parseList } from '../../../src/probe/nvidia-smi/parse-list.js';
import { parseProcesses } from '../../../src/probe/nvidia-smi/parse-processes.js';
import { parseRemappedRows } from '../../../src/probe/nvidia-smi/parse-remapped-rows.js';
import { placeRows } from '../../../src/probe/nvidia-smi/place-rows.js';

/** One run of NVIDIA's own program. */
interface Capture {
  readonly driver: string;
  readonly scenario: string;
  readonly argv: string;
  readonly rc: number | string;
  readonly stdout: string;
}

// The captures lie beside the project where it is built; a few of them stand here, so that it is tested without them too.
const beside = new URL('../../../../shared/nvidia-smi/captures.jsonl', import.meta.url);
const captures: Capture[] = existsSync(beside)
  ? readFileSync(beside, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Capture)
  : [
      ...[
        ['470.256.02', 'clocks_throttle_reasons.hw_slowdown'],
        ['550.163.01', 'clocks_throttle_reasons.hw_slowdown'],
        ['550.163.01', 'clocks_event_reasons.hw_slowdown'],
      ].map(([driver = '', field]) => ({
        driver,
        scenario: 'slowdowns',
        argv: `nvidia-smi --query-gpu=index,${field} --format=csv,noheader`,
        rc: 0,
        stdout: '0, Active\n1, Not Active\n',
      })),
      {
        driver: '535.261.03',
        scenario: 'gpu3-every-query-lost',
        argv: 'nvidia-smi --query-gpu=index,uuid --format=csv,noheader',
        rc: 0,
        stdout:
          '2, GPU-c1d4e5f6-3a2b-4c9d-8e7f-102938475603\n[GPU is lost], [GPU is lost]\n4, GPU-73ab12cd-9f8e-4d6c-b5a4-938271605f05\n',
      },
      {
        driver: '535.261.03',
        scenario: 'compute-apps-not-supported',
        argv: 'nvidia-smi --query-compute-apps=gpu_uuid,pid,process_name,used_memory --format=csv,noheader,nounits',
        rc: 0,
        stdout: 'GPU-c1d4e5f6-3a2b-4c9d-8e7f-102938475603, [N/A], [N/A], [N/A]\n',
      },
      {
        driver: '535.261.03',
        scenario: 'gpu3-every-query-lost',
        argv: 'nvidia-smi --query-remapped-rows=gpu_uuid,remapped_rows.pending,remapped_rows.failure --format=csv,noheader',
        rc: 0,
        stdout: 'GPU-c1d4e5f6-3a2b-4c9d-8e7f-102938475603, 0, 0\n[GPU is lost], [GPU is lost], [GPU is lost]\n',
      },
      {
        driver: '470.256.02',
        scenario: 'gpu3-handle-lost',
        argv: 'nvidia-smi -L',
        rc: 15,
        stdout: [0, 1, 2, 3, 4, 5, 6, 7]
          .map((index) =>
            index === 3
              ? 'Unable to determine the device handle for gpu 0000:4E:00.0: GPU is lost.  Reboot the system to recover this GPU\n\n\n'
              : `GPU ${index}: NVIDIA A100-SXM4-80GB (UUID: GPU-5a5fbd25-1c5e-4d32-96b1-7dd6d9d4b2a${index})\n`,
          )
          .join(''),
      },
    ];

const asked = (option: string): Capture[] => captures.filter(({ argv, rc }) => argv.includes(option) && rc === 0);
const fieldsOf = ({ argv }: Capture): string[] => (/--query-[a-z-]+=(\S+)/.exec(argv)?.[1] ?? '').split(',');
const linesOf = ({ stdout }: Capture): string[] => stdout.split('\n').filter((line) => line.trim() !== '');

function wordsOf(reading: Reading<string | number>): string | undefined {
  if (reading.kind === 'value') return String(reading.value);
  return reading.kind === 'absent' ? undefined : reading.words;
}

/** The runs of which a truth does not hold; never none for lack of runs. */
function wrong(runs: readonly Capture[], holds: (run: Capture) => boolean): string[] {
  expect(runs).not.toEqual([]);
  return runs.filter((run) => !holds(run)).map(({ driver, scenario, argv }) => `${driver} ${scenario}: ${argv}`);
}

describe('what NVIDIA’s own program printed', () => {
  test('loses no card of a query that exited 0, and makes none up', () => {
    const whole = (run: Capture): boolean => {
      const { rows } = parseGpuRows(run.stdout, fieldsOf(run));
      return rows.length === linesOf(run).length && rows.every(({ short }) => !short);
    };
    expect(wrong(asked('--query-gpu='), whole)).toEqual([]);
  });

  test('is read column by column, a column that was renamed under each of its names', () => {
    const read = new Set<string>();
    const asPrinted = (run: Capture): boolean =>
      parseGpuRows(run.stdout, fieldsOf(run)).rows.every(({ readings }, nth) => {
        const cells = (linesOf(run)[nth] ?? '').split(', ').map((cell) => cell.replace(/ MiB$/, ''));
        return fieldsOf(run).every((field, at) => {
          const reading = readingOf(field);
          if (reading === null) return true;
          read.add(`${run.driver} ${field}`);
          const [words, cell = ''] = [wordsOf(readings[reading]), cells[at]];
          // A number is a number: 60.50 W is read as 60.5.
          return words === cell || (/^\d+\.\d+$/.test(cell) && Number(words) === Number(cell));
        });
      });
    // With a header the first row is no card's.
    const runs = asked('--query-gpu=').filter(({ argv }) => argv.includes('noheader'));
    expect(wrong(runs, asPrinted)).toEqual([]);
    expect([...read]).toEqual(
      expect.arrayContaining([
        '470.256.02 clocks_throttle_reasons.hw_slowdown',
        '550.163.01 clocks_throttle_reasons.hw_slowdown',
        '550.163.01 clocks_event_reasons.hw_slowdown',
      ]),
    );
  });

  test('gives every card its own index, the one that lost its words included', () => {
    const ofAll = asked('--query-gpu=index,uuid').filter(({ argv }) => !argv.includes('-i ') && !argv.includes('--id'));
    const inOrder = (run: Capture): boolean => {
      const { rows, driverCount } = parseGpuRows(run.stdout, fieldsOf(run));
      const indices = placeRows(rows, driverCount ?? rows.length).map(({ index }) => index ?? Number.NaN);
      return indices.every((index, at) => at === 0 || index > (indices[at - 1] ?? Number.NaN));
    };
    expect(wrong(ofAll, inOrder)).toEqual([]);
  });

  test('is a process only with a numeric pid', () => {
    const numeric = (run: Capture): boolean => {
      const { processes, unreadable } = parseProcesses(run.stdout);
      const withPid = linesOf(run).filter((line) => /^GPU-[^,]+, \d+, /.test(line));
      return processes.length === withPid.length && processes.length + unreadable === linesOf(run).length;
    };
    expect(wrong(asked('--query-compute-apps=gpu_uuid,pid,'), numeric)).toEqual([]);
  });

  test('tells the remapped rows of every card that tells its uuid', () => {
    const everyNamed = (run: Capture): boolean =>
      parseRemappedRows(run.stdout).size === linesOf(run).filter((line) => line.startsWith('GPU-')).length;
    expect(wrong(asked('--query-remapped-rows=gpu_uuid,'), everyNamed)).toEqual([]);
  });

  test('lists each card of eight, and by the driver’s words the one that is broken', () => {
    const lists = captures.filter(({ argv, scenario }) => argv === 'nvidia-smi -L' && scenario.startsWith('gpu3-'));
    const eachOnce = (run: Capture): boolean => {
      const { indices, broken } = parseList(run.stdout);
      if (run.rc === 0) return broken.length === 0 && indices.length === linesOf(run).length;
      const [only, ...others] = broken;
      const isCard3 = only?.index === 3 && only.pciBusId === '00000000:4E:00.0' && only.words !== '';
      return isCard3 && others.length === 0 && indices.join(',') === '0,1,2,4,5,6,7';
    };
    expect(wrong(lists, eachOnce)).toEqual([]);
  });
});
