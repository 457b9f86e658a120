/** The environment that a job is started with. */

import type { Grant, JobSpec } from '../../model/admission.js';
import { deviceIds } from '../labels.js';

/** By it a job's processes are known, wherever they have gone. */
export const CLAIM_ID_VARIABLE = 'TUNEPLANE_CLAIM_ID';

/** What a program needs to find itself on a machine. The rest of the gate's own environment may hold its secrets. */
const HANDED_ON = /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR|LD_LIBRARY_PATH)$/;

/**
 * A little of the gate's own, then what was asked for, then ours, which wins. `CUDA_VISIBLE_DEVICES` is set for a job of no
 * cards too: empty, it hides all of them.
 */
export function jobEnvironment(
  spec: JobSpec,
  grant: Grant,
  id: string,
  own: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const handedOn = Object.entries(own).filter(
    (entry): entry is [string, string] => HANDED_ON.test(entry[0]) && entry[1] !== undefined,
  );
  return {
    ...Object.fromEntries(handedOn),
    ...spec.container.env,
    CUDA_DEVICE_ORDER: 'PCI_BUS_ID',
    CUDA_VISIBLE_DEVICES: deviceIds(grant).join(','),
    TUNEPLANE_RUN_ID: spec.runId,
    [CLAIM_ID_VARIABLE]: id,
  };
}
