/** How hard one card works, and what the driver wrote about it into the kernel's log. */

import type { PanelBuilder as TimeSeries } from '@grafana/grafana-foundation-sdk/timeseries';
import { METRICS } from '../../src/metrics/names.js';
import { lines } from './panels.js';
import { onCard } from './selectors.js';
import { course } from './target.js';

/** The share of time in which a kernel ran. */
export function utilization(): TimeSeries {
  return lines({
    title: 'Utilisation',
    description:
      'Part of the time in which a kernel ran on the card. A gap: the driver does not tell, as of a divided card (MIG).',
    width: 8,
    height: 7,
    unit: 'percentunit',
    noValue: 'not read',
  })
    .max(1)
    .withTarget(course(`max(${onCard(METRICS.cardUtilization)})`, 'utilisation'));
}

/** Its temperature. */
export function temperature(): TimeSeries {
  return lines({
    title: 'Temperature',
    description: 'Temperature of the chip. A gap: it could not be read.',
    width: 8,
    height: 7,
    unit: 'celsius',
    noValue: 'not read',
  }).withTarget(course(`max(${onCard(METRICS.cardTemperature)})`, 'chip'));
}

/** The power that it draws. */
export function power(): TimeSeries {
  return lines({
    title: 'Power',
    description: 'Power that the card draws. A gap: it could not be read.',
    width: 8,
    height: 7,
    unit: 'watt',
    noValue: 'not read',
  }).withTarget(course(`max(${onCard(METRICS.cardPower)})`, 'drawn'));
}

/** For how long it has been held without use. */
export function heldIdle(): TimeSeries {
  return lines({
    title: 'Held and idle',
    description:
      'For how long a job has held the card without a process on it and without utilisation. A gap: nobody holds it, or the driver does not tell. The gate ends nothing because of it.',
    width: 12,
    height: 7,
    unit: 's',
    noValue: 'held by nobody',
  }).withTarget(course(`max(${onCard(METRICS.cardHeldIdle)})`, 'idle'));
}

/** The Xids about it. */
export function xids(): TimeSeries {
  return lines({
    title: 'Xids',
    description:
      "Errors that the driver wrote into the kernel's log about this card since the gate began, by code. Those of the hardware take the card out (reason xid), those of a program say nothing of the card.",
    width: 12,
    height: 7,
    unit: 'none',
    noValue: 'no Xid since the gate began',
  })
    .decimals(0)
    .withTarget(course(`max by (code) (${onCard(METRICS.cardXids)})`, 'Xid {{code}}'));
}
