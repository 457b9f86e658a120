/** The ids that Grafana's files use to refer to each other. A stable dashboard uid keeps links and stars valid. */

export const FLEET_UID = 'tuneplane-gpu-fleet';
export const CARD_UID = 'tuneplane-gpu-card';

/** The provisioned Prometheus; alert rules refer to it too. The dashboards take any Prometheus, by a variable. */
export const DATASOURCE_UID = 'tuneplane-prometheus';
