/** The stand-in `nvidia-smi` for tests of a whole gate, which look hundreds of times at a machine that rarely changes. */

import { createHash } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Machine } from '../../src/stand-in/machine/machine.js';

const STAND_IN = fileURLToPath(new URL('../../dist/stand-in/nvidia-smi.js', import.meta.url));
/** Shared by all test files of a run, whose TMPDIR is removed at its end. */
const ANSWERS = join(tmpdir(), 'stand-in-answers');

/**
 * Writes the description of the machine to this file. While it neither waits nor hangs, its answers are kept beside its
 * description, so that each is computed once in a run of the tests: starting Node for every look was a quarter of their
 * processor time.
 */
export function putMachine(path: string, machine: Machine): void {
  const text = JSON.stringify(machine);
  // Removed first and written last: a look in between computes its answer, and keeps none.
  rmSync(`${path}.answers`, { force: true });
  replace(path, text);
  if (machine.hang !== null || machine.delay_ms !== 0) return;
  const folder = join(ANSWERS, createHash('sha256').update(text).digest('hex').slice(0, 16));
  mkdirSync(folder, { recursive: true });
  replace(join(folder, 'machine.json'), text);
  replace(`${path}.answers`, `${folder}\n`);
}

/** Puts the program there. Whatever depends on the time, or is to be logged, is asked of the stand-in itself. */
export function putStandIn(path: string): void {
  replace(path, SCRIPT, 0o755);
}

const COMPUTE = `'${process.execPath}' '${STAND_IN}' "$@"`;
const SCRIPT = `#!/bin/sh
answers=
[ -r "$STAND_IN_MACHINE.answers" ] && [ -z "$STAND_IN_LOG" ] && read -r answers <"$STAND_IN_MACHINE.answers"
case "$*" in
  *timestamp*) answers= ;;
  --query-*|-L*|topo*|-i*) ;;
  *) answers= ;;
esac
[ -n "$answers" ] || exec ${COMPUTE}
PATH=/usr/bin:/bin
key=$(cksum <<END
$*
END
)
kept="$answers/\${key%% *}"
if [ ! -e "$kept.status" ]; then
  STAND_IN_MACHINE="$answers/machine.json" ${COMPUTE} >"$kept.$$"
  status=$?
  # It has crashed, or was killed: no answer to keep.
  if [ $status -ne 0 ] && [ ! -s "$kept.$$" ]; then rm -f "$kept.$$"; exit $status; fi
  mv "$kept.$$" "$kept"
  echo $status >"$kept.$$" && mv "$kept.$$" "$kept.status"
fi
cat "$kept"
read -r status <"$kept.status"
exit "$status"
`;

/** Replaced atomically: a run of the program may be reading it now. */
export function replace(path: string, text: string, mode = 0o644): void {
  const aside = `${path}.${process.pid}`;
  writeFileSync(aside, text, { mode });
  renameSync(aside, path);
}
