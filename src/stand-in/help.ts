/** The texts of `--help` and `--version`. */

import type { Request } from './arguments.js';
import { fieldsOf } from './fields/field-table.js';
import { type Dialect, libraryVersion } from './machine/dialect.js';
import type { Machine } from './machine/machine.js';
import { type Output, sentence } from './output.js';

/** The help texts. Names are in quotes at the start of a line, as in the real ones; the descriptions are our own. */
export function help({ about }: Request & { kind: 'help' }, dialect: Dialect): Output {
  if (about === 'program') return sentence(PROGRAM, 0);
  const title = `List of valid properties to query for the switch "${SWITCHES[about]}":\n\n`;
  const fields = fieldsOf(about, dialect).map(({ names, unit }) => {
    const quoted = names.map((name) => `"${name}"`).join(' or ');
    return `${quoted}\n${unit === null ? 'Without unit.' : `In ${unit}.`}\n\n`;
  });
  return sentence(`${title}${fields.join('')}`, 0);
}

/** `--version`, branch 550 and later. */
export function version({ driver, cuda }: Machine): Output {
  const lines = [
    `NVIDIA-SMI version  : ${driver}`,
    `NVML version        : ${libraryVersion(driver)}`,
    `DRIVER version      : ${driver}`,
    `CUDA Version        : ${cuda}`,
  ];
  return sentence(`${lines.join('\n')}\n`, 0);
}

const SWITCHES = { gpu: '--query-gpu', apps: '--query-compute-apps', remapped: '--query-remapped-rows' } as const;

const PROGRAM = `A stand-in for nvidia-smi: it plays the machine described in the JSON file named by STAND_IN_MACHINE.

  (nothing)                a table for eyes
  -L, --list-gpus
  --query-gpu=FIELDS --format=csv[,noheader][,nounits] [-i CARDS]
  --query-compute-apps=FIELDS --format=...
  --query-remapped-rows=FIELDS --format=...
  topo -m
  --help-query-gpu, --help-query-compute-apps, --help-query-remapped-rows
  --version
`;
