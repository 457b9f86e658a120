/** Ids that the SDK leaves to Grafana, which would then assign new ones at each load. */

import type { Dashboard, Panel, RowPanel } from '@grafana/grafana-foundation-sdk/dashboard';

/** Ids for the panels, so that links to them stay valid, and letters for their queries. */
export function numbered(dashboard: Dashboard): Dashboard {
  const panels = (dashboard.panels ?? []).map((panel, place) => ({ ...lettered(panel), id: place + 1 }));
  return { ...dashboard, panels };
}

function lettered(panel: Panel | RowPanel): Panel | RowPanel {
  if (!('targets' in panel) || panel.targets === undefined) return panel;
  const targets = panel.targets.map((target, place) => ({ ...target, refId: String.fromCodePoint(65 + place) }));
  return { ...panel, targets };
}
