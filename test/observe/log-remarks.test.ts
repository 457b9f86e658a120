import { expect, test } from 'vitest';
import { logRemarks } from '../../src/observe/log-remarks.js';
import { blind, gpus, rowsUpTo, snapshot } from '../occupancy/make.js';
import { recordingLog } from '../probe/nvidia-smi/program.js';

test('what nvidia-smi says besides rows is told once, and again after it was gone', () => {
  const log = recordingLog();
  const told = logRemarks(log);
  const warns = snapshot({ gpus: gpus(rowsUpTo(1), { remarks: ['nvidia-smi also says: infoROM is corrupted'] }) });
  told(warns);
  told(snapshot({ gpus: blind() }));
  told(warns);
  expect(log.sentences).toEqual(['nvidia-smi also says: infoROM is corrupted']);
  told(snapshot({ processRemarks: ['slices'] }));
  told(warns);
  expect(log.sentences).toEqual([
    'nvidia-smi also says: infoROM is corrupted',
    'slices',
    'nvidia-smi also says: infoROM is corrupted',
  ]);
});
