/** Starts a job's launcher, which does nothing before its pid stands in the claim. */

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { Claim } from './claim-file.js';
import { liveProcess } from './kernel.js';

/**
 * A shell, which is small, is there everywhere, and needs nothing of ours while the job runs. It waits until its end of the
 * pipe is closed, by the gate or by the gate's death, and goes on only when the claim was given to its pid: so no job runs
 * unseen, and none is lost when the gate dies right after that. It hears signals to the group only to live on and write
 * down how the job ended. It opens what it will write before the job begins: a claim that was given up as lost is gone then with
 * its files, and nothing is left to lie where the next claim of that name may be. Of its own words only variables that no job is
 * likely to have.
 *
 * $1 the start of the paths of the claim's files, $2 the kernel's name, then the command.
 */
const SCRIPT = `
read -r TUNEPLANE_NOTHING <&3
exec 3<&-
[ -e "$1.run.$2.$$".* ] || exit 0
trap : HUP INT QUIT TERM USR1 USR2
exec >>"$1.output" 2>&1 4>"$1.exit"
echo "$$" >"$1.pid"
job() { shift 2; "$@" 4>&-; }
job "$@"
echo "$?" >&4
`;

export type Launcher =
  | {
      readonly kind: 'waiting';
      readonly pid: number;
      readonly startTicks: string;
      /** It looks at the claim, and then runs the job or ends. */
      letGo(): void;
    }
  | { readonly kind: 'failed'; readonly words: string };

/** A session of its own, without a terminal; its standard input is empty. */
export async function startLauncher(claim: Claim, prefix: string, kernel: string): Promise<Launcher> {
  let child: ChildProcess;
  try {
    // Some of what the kernel refuses is thrown at once, and some comes as an event.
    child = spawn('/bin/sh', ['-c', SCRIPT, 'gpu-gate-job', prefix, kernel, ...claim.command], {
      cwd: claim.workingDir,
      env: claim.env,
      detached: true,
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    });
    await once(child, 'spawn');
  } catch (error) {
    return { kind: 'failed', words: `the job's launcher could not be started: ${(error as Error).message}` };
  }
  child.unref();
  const pipe = child.stdio[3] as Writable;
  // It may be gone before we let go of it.
  pipe.on('error', () => undefined);
  const live = liveProcess(child.pid ?? 0);
  if (live === null) {
    pipe.destroy();
    return { kind: 'failed', words: "the job's launcher ended at once" };
  }
  return { kind: 'waiting', pid: live.pid, startTicks: live.startTicks, letGo: () => void pipe.destroy() };
}
