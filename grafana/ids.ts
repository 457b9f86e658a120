/** Names by which Grafana's files refer to each other. A dashboard that keeps its uid keeps its links and its stars. */

export const FLEET_UID = 'tuneplane-gpu-fleet';
export const CARD_UID = 'tuneplane-gpu-card';

/** Of the provisioned Prometheus; alert rules name it too. The dashboards take any Prometheus, by a variable. */
export const DATASOURCE_UID = 'tuneplane-prometheus';
