/** The history of one card. */

import { BigValueTextMode } from '@grafana/grafana-foundation-sdk/common';
import type { PanelBuilder as Stat } from '@grafana/grafana-foundation-sdk/stat';
import type { PanelBuilder as StateTimeline } from '@grafana/grafana-foundation-sdk/statetimeline';
import type { PanelBuilder as TimeSeries } from '@grafana/grafana-foundation-sdk/timeseries';
import { METRICS } from '../../src/metrics/names.js';
import { COLUMNS, READINGS } from '../../src/model/columns.js';
import { BAD, badAboveZero, GOOD, PLAIN } from './colours.js';
import { bigNumbers, lines, stretches } from './panels.js';
import { onCard } from './selectors.js';
import { stateNumber, stateNumberMapping } from './states.js';
import { course, now } from './target.js';
import { words } from './value-words.js';

/** Its states over time. */
export function states(): StateTimeline {
  return stretches(
    {
      title: 'State over time',
      description:
        'The state of the card at each moment. "not seen" where no gate spoke of it: the gate was down, or the card was not there.',
      width: 24,
      height: 5,
      unit: 'none',
      noValue: 'not seen',
    },
    stateNumberMapping(),
  ).withTarget(course(stateNumber(), 'state'));
}

/** Used and total memory. */
export function memory(): TimeSeries {
  return lines({
    title: 'Memory',
    description:
      'Memory in use and memory that the card has. In use on a card that nobody holds: somebody from outside. A gap: it could not be read.',
    width: 12,
    height: 9,
    unit: 'bytes',
    noValue: 'not read',
  })
    .withTarget(course(`max(${onCard(METRICS.cardMemoryUsed)})`, 'in use'))
    .withTarget(course(`max(${onCard(METRICS.cardMemorySize)})`, 'there is'));
}

/** Its users, by the driver and by the containers. */
export function users(): TimeSeries {
  return lines({
    title: 'Processes and claims',
    description:
      "Compute processes on the card, a job's own included, and live containers that claim it. More than one claim is never right. A claim without a process for long: a job that does nothing. A gap: the list could not be had.",
    width: 12,
    height: 9,
    unit: 'none',
    noValue: 'not read',
  })
    .decimals(0)
    .withTarget(course(`max(${onCard(METRICS.cardProcesses)})`, 'processes'))
    .withTarget(course(`max(${onCard(METRICS.cardClaims)})`, 'claims'));
}

/** The findings that exclude it. */
export function reasons(): StateTimeline {
  return stretches(
    {
      title: 'Reasons to be unhealthy',
      description:
        'One row for each reason that the card can speak of. A row that is not there, or ends: the driver could not say. Any "yes" takes the card out, and stays on a card that is held.',
      width: 16,
      height: 10,
      unit: 'none',
      noValue: 'nothing known: not seen, or its health is not read',
    },
    words([0, 'no', GOOD], [1, 'yes', BAD]),
  ).withTarget(course(`max by (reason) (${onCard(METRICS.cardUnhealthy)})`, '{{reason}}'));
}

/** The warnings that come from a column of nvidia-smi. */
const OF_COLUMNS = READINGS.flatMap((reading) => {
  const { finding } = COLUMNS[reading];
  return finding?.severity === 'warning' ? [`${finding.reason}: ${finding.what}. `] : [];
});

/** All its warnings. */
export function warnings(): StateTimeline {
  return stretches(
    {
      title: 'Warnings',
      description:
        `Known of a card that stays in use. ${OF_COLUMNS.join('')}` +
        "process_list_blind: memory is in use and the process list is empty, as without the host's pid namespace. " +
        'removal_stuck: a container has been in removing for over an hour, and holds nothing.',
      width: 8,
      height: 10,
      unit: 'none',
      noValue: 'nothing known: not seen, or its health is not read',
    },
    words([0, 'no', GOOD], [1, 'yes', PLAIN]),
  ).withTarget(course(`max by (reason) (${onCard(METRICS.cardWarning)})`, '{{reason}}'));
}

/** Failed starts on it. */
export function startFailures(): TimeSeries {
  return lines({
    title: 'Starts that failed',
    description:
      'Starts on this card that failed, a minute. Starts that fail on one card and not on others: the card, not the job.',
    width: 16,
    height: 7,
    unit: 'cpm',
    noValue: 'not seen',
  }).withTarget(
    course(`60 * max(rate(${onCard(METRICS.cardStartFailures)}[$__rate_interval]))`, 'failed starts / min'),
  );
}

/** Their number in the displayed time range. */
export function startFailuresCount(): Stat {
  return bigNumbers({
    title: 'Failed starts in this time',
    description: 'Starts on this card that failed in the time that the dashboard shows.',
    width: 4,
    height: 7,
    unit: 'none',
    noValue: 'not seen',
  })
    .decimals(0)
    .textMode(BigValueTextMode.Value)
    .thresholds(badAboveZero())
    .withTarget(now(`ceil(max(increase(${onCard(METRICS.cardStartFailures)}[$__range])))`));
}

/** Whether the driver stays loaded. */
export function persistence(): Stat {
  return bigNumbers({
    title: 'Persistence mode',
    description:
      'Whether the driver keeps the card ready. Off: each probe starts it up anew, 1 to 3 s a card (nvidia-smi -pm 1 turns it on).',
    width: 4,
    height: 7,
    unit: 'none',
    noValue: 'not read',
  })
    .textMode(BigValueTextMode.Value)
    .mappings([words([0, 'off', BAD], [1, 'on', GOOD])])
    .withTarget(now(`max(${onCard(METRICS.cardPersistence)})`));
}
