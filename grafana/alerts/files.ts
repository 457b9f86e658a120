/** The files generated from the alert rules. */

import { grafanaFile } from './grafana-file.js';
import { prometheusFile, recordingFile } from './prometheus-file.js';

/** Text by path below `grafana/`. */
export function alertFiles(): Readonly<Record<string, string>> {
  return {
    'prometheus/rules.yml': prometheusFile(),
    'prometheus/recording.yml': recordingFile(),
    'provisioning/alerting/rules.yaml': grafanaFile(),
  };
}
