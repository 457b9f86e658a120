/** Starts a job's launcher, which does nothing until its pid is recorded in the claim. */

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { Claim } from './claim-file.js';
import { liveProcess } from './kernel.js';

/**
 * A shell, since it is small, available everywhere, and needs no file of ours while the job runs. It blocks until its end of
 * the pipe is closed, by the gate or by the gate's death, and continues only if the claim was given to its pid: so no job
 * runs unrecorded, and none is lost when the gate dies right after. It traps the group's signals only to survive and record
 * how the job ended. It opens its output files before the job begins: if an operator removes the claim as lost, the files go
 * with it, and nothing is written where the next claim of that name may be. It uses only variable names that no job is
 * likely to use.
 *
 * $1 the prefix of the paths of the claim's files, $2 the pid scope (kernel.ts), then the command.
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
      /** Lets it check the claim; it then runs the job or exits. */
      letGo(): void;
    }
  | { readonly kind: 'failed'; readonly words: string };

/** A session of its own, without a terminal; its standard input is empty. `onExit` is called when the launcher has exited. */
export async function startLauncher(
  claim: Claim,
  prefix: string,
  kernel: string,
  onExit: () => void = () => {},
): Promise<Launcher> {
  let child: ChildProcess;
  try {
    // Some of the kernel's refusals are thrown at once, and others come as an event.
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
  child.once('exit', onExit);
  const pipe = child.stdio[3] as Writable;
  // It may have ended before we let it continue.
  pipe.on('error', () => undefined);
  const live = liveProcess(child.pid ?? 0);
  if (live === null) {
    pipe.destroy();
    return { kind: 'failed', words: "the job's launcher ended at once" };
  }
  return { kind: 'waiting', pid: live.pid, startTicks: live.startTicks, letGo: () => void pipe.destroy() };
}
