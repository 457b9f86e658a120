/** A problem answer from the gate, as lines for a terminal. Pure. */

import { EXIT } from '../terminal/exit-codes.js';
import type { GateSaid } from './ask-gate.js';
import { shownProblem } from './gate-shapes.js';

/** Lines to print, and the exit code. */
export interface Failure {
  readonly lines: readonly string[];
  readonly exit: number;
}

/** For an answer that no command expects. */
export function failureOf(said: GateSaid): Failure {
  if (said.kind === 'unreachable') return { lines: [said.detail], exit: EXIT.undecided };
  const exit = said.status >= 400 && said.status < 500 ? EXIT.refused : EXIT.undecided;
  const problem = shownProblem.safeParse(said.body);
  if (!problem.success) {
    return {
      lines: [`the answer does not come from a gate: status ${said.status} without a known body`],
      exit: EXIT.undecided,
    };
  }
  const { code, detail, errors = [], daemon_message: daemon, rolled_back: rolledBack } = problem.data;
  return {
    exit,
    lines: [
      `${exit === EXIT.refused ? 'refused' : 'not decided'} (${said.status} ${code}): ${detail}`,
      ...errors.map((error) => `  ${error.pointer || '(the whole)'}: ${error.detail}`),
      ...(daemon === undefined ? [] : [`  Docker says: ${daemon}`]),
      ...(rolledBack === false ? ['  parts of the attempt may be left; the same request continues with them'] : []),
      ...(said.status === 401 ? ['  the token is read from --token-file or TUNEPLANE_TOKEN_FILE'] : []),
    ],
  };
}
