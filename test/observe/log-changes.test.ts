import { expect, test } from 'vitest';
import type { BlindReason, Snapshot } from '../../src/model/snapshot.js';
import { logChanges } from '../../src/observe/log-changes.js';
import { listeningLog } from '../support/jobs.js';

function look(gpus: BlindReason | 'seen'): Snapshot {
  const seen = { kind: 'seen', value: null, tookMs: 1 } as const;
  const probe = gpus === 'seen' ? seen : { kind: 'blind', why: gpus, detail: `because of ${gpus}`, tookMs: 1 };
  return { gpus: probe, processes: { kind: 'off' }, health: seen, docker: seen, kernel: seen } as unknown as Snapshot;
}

test('a probe that goes blind, changes its reason and sees again is told once each', () => {
  const log = listeningLog();
  const tell = logChanges(log);
  for (const gpus of ['seen', 'exit', 'exit', 'timeout', 'seen', 'seen'] as const) tell(look(gpus));
  expect(log.lines).toEqual([
    'warn the probe gpus could not see: because of exit',
    'warn the probe gpus could not see: because of timeout',
    'info the probe gpus sees again',
  ]);
});
