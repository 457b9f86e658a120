/** The dashboard of one card. */

import { DashboardBuilder, DashboardCursorSync, type Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { CARD_UID } from '../ids.js';
import {
  memory,
  persistence,
  reasons,
  startFailures,
  startFailuresCount,
  states,
  users,
  warnings,
} from './card-history.js';
import { heldIdle, power, temperature, utilization, xids } from './card-load.js';
import { holder, identity, stateNow } from './card-panels.js';
import { toFleet } from './links.js';
import { numbered } from './numbered.js';
import { datasource, instance, job, uuid } from './variables.js';

/** As Grafana reads it. */
export function cardDashboard(): Dashboard {
  const dashboard = new DashboardBuilder('GPU card')
    .uid(CARD_UID)
    .description('One card of one machine: its state over time, who uses it, and what the driver says of it.')
    .tags(['tuneplane', 'gpu'])
    .timezone('browser')
    .time({ from: 'now-6h', to: 'now' })
    .refresh('30s')
    .tooltip(DashboardCursorSync.Crosshair)
    .link(toFleet());
  for (const variable of [datasource(), job(), instance(), uuid()]) dashboard.withVariable(variable);
  for (const panel of [
    stateNow(),
    identity(),
    holder(),
    states(),
    memory(),
    users(),
    utilization(),
    temperature(),
    power(),
    reasons(),
    warnings(),
    heldIdle(),
    xids(),
    startFailures(),
    startFailuresCount(),
    persistence(),
  ]) {
    dashboard.withPanel(panel);
  }
  return numbered(dashboard.build());
}
