/**
 * A process in a frozen cgroup (v1) does not die of SIGKILL until it is thawed, just like one that is stuck in the driver.
 */

import { accessSync, constants, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const FREEZERS = '/sys/fs/cgroup/freezer';

/** Whether this machine allows freezing; if not, a test needs another process that outlives SIGKILL. */
export const canFreeze = isWritable(join(FREEZERS, 'cgroup.procs'));

export interface Frozen {
  /** Thaws them, kills those without a pending signal, and waits until their group is gone. */
  release(): Promise<void>;
}

export function freeze(pids: readonly number[]): Frozen {
  const group = join(FREEZERS, `gate-test-${process.pid}-${pids[0] ?? 0}`);
  mkdirSync(group);
  for (const pid of pids) writeFileSync(join(group, 'cgroup.procs'), String(pid));
  writeFileSync(join(group, 'freezer.state'), 'FROZEN');
  return {
    async release() {
      writeFileSync(join(group, 'freezer.state'), 'THAWED');
      for (const pid of readFileSync(join(group, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean))
        kill(Number(pid));
      for (const patience = performance.now() + 10_000; !isRemoved(group); await sleep(50)) {
        if (performance.now() > patience) throw new Error(`${group} was not empty within 10 s of the thaw`);
      }
    },
  };
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It had a pending signal.
  }
}

function isRemoved(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
