import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { expect, onTestFinished, test } from 'vitest';
import { createNvidiaSmi } from '../../../src/probe/nvidia-smi/nvidia-smi.js';
import { inTime } from '../../../src/time/in-time.js';
import { systemClock } from '../../../src/time/system-clock.js';
import { canFreeze, freeze, type Frozen } from '../../support/freezer.js';
import { bundle } from '../../support/running/bundle.js';
import { createScriptFolder, recordingLog, until, type ScriptFolder } from './program.js';

/** Without a freezer, what the program leaves behind escapes the signal and holds its output: not gone either. */
const ESCAPES = `setsid sh -c 'until [ -e "$0/free" ]; do sleep 0.1; done' "$HERE" &`;

test('a process that cannot be killed is never joined by a second, and sight comes back when it goes', async () => {
  const scripts = createScriptFolder();
  onTestFinished(() => scripts.cleanUp());
  const hang = `${canFreeze ? '' : ESCAPES} exec sleep 3600`;
  const program = scripts.program(`echo $$ >> "$LOG"; if [ ! -e "$HERE/well" ]; then ${hang}; fi; echo "0, GPU-a"`);
  const smi = createNvidiaSmi({
    program,
    timeoutMs: 1000,
    checkHealth: false,
    clock: systemClock,
    log: recordingLog(),
  });
  const first = smi.gpus();
  await until('it runs', () => /^\d+$/.test(scripts.notes()[0] ?? ''));
  const stuck = stick(scripts);
  try {
    const startedAt = performance.now();
    expect((await first).gpus).toMatchObject({ kind: 'blind', why: 'timeout' });
    expect(performance.now() - startedAt).toBeLessThan(2500);
    for (let look = 0; look < 4; look += 1) {
      expect((await smi.gpus()).gpus).toMatchObject({ kind: 'blind', why: 'overlap' });
      await sleep(50);
    }
    expect(scripts.notes()).toHaveLength(1);
    writeFileSync(join(scripts.folder, 'well'), '');
  } finally {
    await stuck.release();
  }
  await until('sight', async () => (await smi.gpus()).gpus.kind === 'seen');
  expect(scripts.notes()).toHaveLength(2);
});

test('a process that cannot be killed keeps the gate from nothing, not from ending either', async () => {
  const scripts = createScriptFolder();
  onTestFinished(() => scripts.cleanUp());
  const program = scripts.program(`echo $$ >> "$LOG"; ${canFreeze ? '' : ESCAPES} exec sleep 3600`);
  const runModule = await bundle(join(import.meta.dirname, '../../../src/program/run.ts'), scripts.folder);
  const gate = join(scripts.folder, 'gate.mjs');
  writeFileSync(gate, `import { run } from '${runModule}'; console.log((await run('${program}', [], 1000)).kind);`);

  const ends = execa(process.execPath, [gate]);
  await until('it runs', () => /^\d+$/.test(scripts.notes()[0] ?? ''));
  const stuck = stick(scripts);
  try {
    expect(await inTime(ends, 5000, systemClock)).not.toBeNull();
    expect(await ends).toMatchObject({ stdout: 'ran_out', exitCode: 0 });
  } finally {
    await stuck.release();
  }
});

/** Makes the process that noted its pid outlive SIGKILL. */
function stick(scripts: ScriptFolder): Frozen {
  return canFreeze ? freeze([Number(scripts.notes()[0])]) : escaped(scripts);
}

function escaped(scripts: ScriptFolder): Frozen {
  return { release: async () => writeFileSync(join(scripts.folder, 'free'), '') };
}
