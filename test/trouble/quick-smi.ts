import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import type { NvidiaSmi } from '../support/gate.js';

const STAND_IN = fileURLToPath(new URL('../../dist/stand-in/nvidia-smi.js', import.meta.url));

/**
 * The stand-in on a machine that does not change: repeats its first answer to each query without starting Node. For tests
 * with hundreds of looks at something else.
 */
export function quickSmi(): NvidiaSmi {
  const folder = mkdtempSync(join(tmpdir(), 'quick-smi-'));
  folders.push(folder);
  const script = `kept='${folder}'/$(echo "$*" | cksum | cut -d' ' -f1)
if [ ! -e "$kept.status" ]; then
  '${process.execPath}' '${STAND_IN}' "$@" >"$kept.$$"
  status=$?
  mv "$kept.$$" "$kept"
  echo $status >"$kept.$$" && mv "$kept.$$" "$kept.status"
fi
cat "$kept"
read -r status <"$kept.status"
exit "$status"`;
  return { script };
}

const folders: string[] = [];

// Once per test file.
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
