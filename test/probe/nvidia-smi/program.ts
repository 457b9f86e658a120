import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock, Log } from '../../../src/model/ports/outside.js';
import { systemClock } from '../../../src/time/system-clock.js';
import { kill, processesOf } from '../../support/running/left-overs.mjs';

/** Small real programs, written for one test. */
export interface ScriptFolder {
  readonly folder: string;
  /** Writes a shell script and returns its path. In it, `$LOG` is a file for notes. */
  program(script: string): string;
  /** The lines that programs wrote to `$LOG`. */
  notes(): string[];
  /** Also ends what still runs in there. */
  cleanUp(): void;
}

export function createScriptFolder(): ScriptFolder {
  const folder = mkdtempSync(join(tmpdir(), 'gate-probe-'));
  const log = join(folder, 'notes');
  let count = 0;
  return {
    folder,
    program: (script) => {
      count += 1;
      const path = join(folder, `program-${count}`);
      writeFileSync(path, `#!/bin/sh\nLOG='${log}'\nHERE='${folder}'\n${script}\n`, { mode: 0o755 });
      return path;
    },
    notes: () => {
      try {
        return readFileSync(log, 'utf8').trim().split('\n');
      } catch {
        return [];
      }
    },
    cleanUp: () => {
      // The code under test abandons programs that hang on purpose, and this process may end without its `exit` hooks.
      for (const { pid } of processesOf(folder)) kill(pid);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The real time, which a test can advance. */
export function movableClock(): Clock & { forward(ms: number): void } {
  let ahead = 0;
  return {
    ...systemClock,
    now: () => Date.now() + ahead,
    monotonic: () => performance.now() + ahead,
    forward: (ms) => {
      ahead += ms;
    },
  };
}

/** A log that stores its sentences. */
export function recordingLog(): Log & { readonly sentences: string[] } {
  const sentences: string[] = [];
  const keep = (_data: object, sentence: string): void => {
    sentences.push(sentence);
  };
  return { sentences, debug: keep, info: keep, warn: keep, error: keep };
}

/** Waits until a condition holds; throws after the time limit. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, ms = 10_000): Promise<void> {
  const end = Date.now() + ms;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`expected within ${ms} ms: ${what}`);
    await sleep(10);
  }
}
