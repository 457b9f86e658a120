/** Links between the dashboards. */

import { DashboardLinkBuilder, DashboardLinkType } from '@grafana/grafana-foundation-sdk/dashboard';
import { CARD_UID, FLEET_UID } from '../ids.js';

/** From a row of a table, whose columns still have their labels' names, to that card. */
export const TO_CARD = {
  title: 'Open this card',
  url:
    `/d/${CARD_UID}?\${datasource:queryparam}` +
    ['job', 'instance', 'uuid'].map((label) => `&var-${label}=\${__data.fields.${label}:percentencode}`).join('') +
    '&${__url_time_range}',
};

/** At the top of the dashboard of one card. */
export function toFleet(): DashboardLinkBuilder {
  return new DashboardLinkBuilder('All machines')
    .type(DashboardLinkType.Link)
    .url(`/d/${FLEET_UID}?\${datasource:queryparam}`)
    .icon('dashboard')
    .tooltip('All cards of all machines')
    .keepTime(true);
}
