/** The meaning of a job's exit code, for readers of `error`. */

/** What shells, inits and the kernel express by an exit code (bash(1), EXIT STATUS; signal(7): 128 plus the signal). */
const MEANINGS: Readonly<Record<number, string>> = {
  126: 'its command was found and could not be run: it may not be executed, or is made for another architecture',
  127: 'there is no such command in the container, or a script called one that is not there',
  130: 'it was interrupted (SIGINT)',
  134: 'it aborted itself (SIGABRT), as after a failed assertion',
  135: 'it used memory that could not be had (SIGBUS): often /dev/shm is too small, see shm_bytes',
  136: 'it failed in arithmetic (SIGFPE)',
  137: 'it was killed (SIGKILL)',
  139: 'it used memory that is not its own (SIGSEGV)',
  143: 'it was told to end (SIGTERM)',
};

/** Null where the job has not ended, ended with 0, or with a code that only the job's own author can explain. */
export function exitWords(exitCode: number | null, oomKilled: boolean | null): string | null {
  if (exitCode === null) return null;
  if (oomKilled === true)
    return `exit code ${exitCode}: out of memory: the kernel killed it at its limit, see memory_bytes`;
  const meaning = MEANINGS[exitCode];
  return meaning === undefined ? null : `exit code ${exitCode}: ${meaning}`;
}
