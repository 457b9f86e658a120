/** Every generated file below grafana/. */

import { alertFiles } from './alerts/files.js';
import { cardDashboard } from './panels/card.js';
import { fleetDashboard } from './panels/fleet.js';

/** Texts by path below grafana/. Deterministic: the same code gives the same bytes. */
export function generatedFiles(): ReadonlyMap<string, string> {
  return new Map([
    ['dashboards/fleet.json', json(fleetDashboard())],
    ['dashboards/card.json', json(cardDashboard())],
    ...Object.entries(alertFiles()),
  ]);
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
