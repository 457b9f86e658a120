/** Every alert rule, once, for Prometheus, for Grafana's provisioning and for the tests. */

import { ADMISSION_RULES } from './admission-rules.js';
import { CARD_RULES } from './card-rules.js';
import { MACHINE_RULES } from './machine-rules.js';
import type { Rule } from './rule.js';

/** The rules by group, in the order in which they are written. */
export const GROUPS: Readonly<Record<string, readonly Rule[]>> = {
  'tuneplane-gpu-machine': MACHINE_RULES,
  'tuneplane-gpu-card': CARD_RULES,
  'tuneplane-gpu-admission': ADMISSION_RULES,
};

export const RULES: readonly Rule[] = Object.values(GROUPS).flat();
