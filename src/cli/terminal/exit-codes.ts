/** The exit codes of the commands that query a gate, so that scripts need not parse text. */

export const EXIT = {
  done: 0,
  /** A card that `check` asked about should not be used. */
  unfit: 1,
  /** The command line, or a file that it names, is wrong; no request was sent. */
  usage: 2,
  /** The gate said `wait`. */
  wait: 3,
  /** This run_id has run and ended. */
  ended: 4,
  /** The gate refused: 4xx. */
  refused: 5,
  /** No decision: no gate answers, it cannot decide now, or Docker failed (5xx). */
  undecided: 6,
  /** Ctrl-C, by the shells' convention. */
  interrupted: 130,
} as const;

/** For a command's help. */
export const EXIT_HELP =
  'Exit codes: 0 done, 2 wrong command line, 5 the gate refuses (4xx), 6 no gate answers or it cannot decide now (5xx).';
