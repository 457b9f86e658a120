/** What the commands that ask a gate end with, so that scripts need not read words. */

export const EXIT = {
  done: 0,
  /** The command line or a file named by it is wrong; nothing was asked. */
  usage: 2,
  /** Not its turn yet. */
  wait: 3,
  /** This run_id has run, and ended. */
  ended: 4,
  /** The gate said no: 4xx. */
  refused: 5,
  /** Nothing was decided: no gate answers, it cannot decide now, or Docker failed it (5xx). */
  undecided: 6,
  /** Ctrl-C, as a shell says it. */
  interrupted: 130,
} as const;

/** For a command's help. */
export const EXIT_HELP =
  'Exit codes: 0 done, 2 wrong command line, 5 the gate refuses (4xx), 6 no gate answers or it cannot decide now (5xx).';
