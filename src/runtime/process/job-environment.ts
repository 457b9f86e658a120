/** The environment of a job. */

import type { Grant, JobSpec } from '../../model/admission.js';
import { deviceIds } from '../labels.js';

/** Identifies a job's processes, wherever they have moved. */
export const CLAIM_ID_VARIABLE = 'TUNEPLANE_CLAIM_ID';

/** What a program needs to work on a machine. The rest of the gate's own environment may hold its secrets. */
const HANDED_ON = /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR|LD_LIBRARY_PATH)$/;

/**
 * A few of the gate's own variables, then the requested ones, then ours, which take precedence. A job without cards gets
 * `CUDA_VISIBLE_DEVICES` too: empty, it hides all cards.
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
