/** The dashboard of all machines. */

import {
  DashboardBuilder,
  DashboardCursorSync,
  RowBuilder,
  type Dashboard,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { FLEET_UID } from '../ids.js';
import * as admission from './admission-panels.js';
import { cardTable } from './card-table.js';
import { findings, gates, states, statesOverTime, waiting } from './fleet-now.js';
import * as lock from './lock-panels.js';
import { numbered } from './numbered.js';
import * as probe from './probe-panels.js';
import * as use from './use.js';
import { datasource, instance, job, several } from './variables.js';

/** As Grafana reads it. */
export function fleetDashboard(): Dashboard {
  const dashboard = new DashboardBuilder('GPU machines')
    .uid(FLEET_UID)
    .description('All cards of all machines: free, held, used from outside, unhealthy, and whether the gates can see.')
    .tags(['tuneplane', 'gpu'])
    .timezone('browser')
    .time({ from: 'now-6h', to: 'now' })
    .refresh('30s')
    .tooltip(DashboardCursorSync.Crosshair);
  for (const variable of [datasource(), several(job()), several(instance())]) dashboard.withVariable(variable);
  for (const panel of [gates(), states(), findings(), statesOverTime(), waiting(), cardTable()]) {
    dashboard.withPanel(panel);
  }
  const rows = {
    Probes: [probe.lamps(), probe.age(), probe.durations(), probe.failures()],
    Use: [use.cardHours(), use.cardsHeld()],
    Admissions: [admission.outcomes(), admission.durations(), admission.phases(), admission.underWay()],
    'Lock and Redis': [lock.waiters(), lock.hold(), lock.heldShare(), lock.lost(), lock.redis()],
  };
  for (const [title, panels] of Object.entries(rows)) {
    dashboard.withRow(new RowBuilder(title));
    for (const panel of panels) dashboard.withPanel(panel);
  }
  return numbered(dashboard.build());
}
