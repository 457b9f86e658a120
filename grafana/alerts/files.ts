/** The files generated from the alert rules. */

import { grafanaFile } from './grafana-file.js';
import { prometheusFile } from './prometheus-file.js';

/** Text by path below `grafana/`. */
export function alertFiles(): Readonly<Record<string, string>> {
  return {
    'prometheus/rules.yml': prometheusFile(),
    'provisioning/alerting/rules.yaml': grafanaFile(),
  };
}
