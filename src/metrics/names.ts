/**
 * Every metric of the gate, once: name, type, help and labels, for the page, the counters and the table in
 * grafana/README.md.
 */

/** The definition of a metric. `buckets` in seconds, for histograms. */
export interface Metric {
  readonly name: string;
  readonly type: 'gauge' | 'counter' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
  readonly buckets?: readonly number[];
}

const gauge = (name: string, help: string, ...labels: readonly string[]): Metric => metric('gauge', name, help, labels);
const counter = (name: string, help: string, ...labels: readonly string[]): Metric =>
  metric('counter', name, help, labels);
const card = (name: string, help: string, ...labels: readonly string[]): Metric =>
  metric('gauge', `card_${name}`, help, ['uuid', 'index', ...labels]);
const histogram = (name: string, help: string, buckets: readonly number[], ...labels: readonly string[]): Metric => ({
  ...metric('histogram', name, help, labels),
  buckets,
});

/** From an uncontended lock to a pull that takes minutes. */
const PHASE_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
/** From a replayed answer to a slow start: the limits of lock, pull wait and start together. */
const ADMISSION_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
/** One look and a few creates; above that, the lock is held through a start. */
const LOCK_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

/** All of them, in the order of the page. */
export const METRICS = {
  cards: gauge('cards', 'Known cards by state; each card is in exactly one.', 'state'),
  cardsExpected: gauge('cards_expected', 'Cards that this machine should have.'),
  externalProbeOk: gauge(
    'external_probe_ok',
    'Whether the memory of the cards could be read (1) or not (0), which shows use from outside; also 1 where that check is off.',
  ),
  probeSuccess: gauge('probe_success', 'Whether the probe could see in this look (1) or not (0).', 'probe'),
  probeDuration: gauge('probe_duration_seconds', 'How long the probe took in this look.', 'probe'),
  probeLastSuccess: gauge(
    'probe_last_success_timestamp_seconds',
    'When the probe last could see; absent until it did.',
    'probe',
  ),
  probeFailures: counter(
    'probe_failures_total',
    'Looks in which the probe could not see, by reason.',
    'probe',
    'reason',
  ),
  snapshotTimestamp: gauge('snapshot_timestamp_seconds', 'When the look on this page began.'),
  cardState: card('state', 'Whether the card is in this state (1) or not (0).', 'state'),
  cardUnhealthy: card(
    'unhealthy',
    'Whether this finding excludes the card (1) or not (0), held cards too; absent where the card cannot say.',
    'reason',
  ),
  cardWarning: card(
    'warning',
    'Whether the card, which stays in use, has this warning (1) or not (0); absent where the card cannot say.',
    'reason',
  ),
  cardStartFailures: {
    ...card('start_failures_total', 'Starts on this card that failed since the gate started.'),
    type: 'counter',
  },
  cardClaims: card('claims', 'Live containers that claim the card; more than 1 is a double booking.'),
  cardProcesses: card('processes', "Compute processes on the card, a job's own included."),
  cardMemoryUsed: card('memory_used_bytes', 'Memory in use on the card.'),
  cardMemorySize: card('memory_size_bytes', 'Memory of the card.'),
  cardUtilization: card('utilization_ratio', 'Part of the last sample period in which a kernel ran, 0 to 1.'),
  cardTemperature: card('temperature_celsius', 'Temperature of the chip.'),
  cardPower: card('power_watts', 'Power that the card draws.'),
  cardHeldIdle: card(
    'held_idle_seconds',
    'For how long a held card has had neither a process nor utilisation; absent where it is not held, or the driver does not tell.',
  ),
  cardXids: {
    ...card(
      'xid_errors_total',
      'Xids that the driver wrote into the kernel log since the gate began, by code.',
      'code',
    ),
    type: 'counter',
  },
  kernelLogGaps: counter(
    'kernel_log_gaps_total',
    'Times that the kernel overwrote lines of its log before they were read: an Xid may have been among them.',
  ),
  cardPersistence: card('persistence_mode', 'Whether persistence mode is on (1) or off (0).'),
  cardInfo: card('info', 'Identity of the card; always 1.', 'name', 'pci_bus_id', 'driver_version', 'series'),
  cardHolder: card(
    'holder_info',
    'The run that holds the card; always 1. Only with TUNEPLANE_METRICS_HOLDERS.',
    'run_id',
  ),
  heldCardSeconds: counter(
    'held_card_seconds_total',
    'Card-seconds that jobs held cards, by who asked for them; unknown: the job names nobody. Beyond 100 names: other.',
    'principal',
  ),
  admissions: counter('admissions_total', 'Admissions by their answer; dry runs are not counted.', 'outcome'),
  callersRefused: counter(
    'callers_refused_total',
    'Requests that were answered 401 or 403, dry runs and reads included.',
    'code',
  ),
  runsWaiting: gauge('runs_waiting', 'Runs with a place in line. A place that nobody asks for lapses.'),
  oldestWait: gauge(
    'oldest_wait_seconds',
    'How long the run that has waited longest has been in line; 0 when nobody waits.',
  ),
  cardsReserved: gauge('cards_reserved', 'Free cards that are kept for the run that has waited longest.'),
  admissionDuration: histogram(
    'admission_duration_seconds',
    'Time from request to answer of an admission.',
    ADMISSION_BUCKETS,
  ),
  phaseDuration: histogram(
    'admission_phase_duration_seconds',
    'How long one phase of an admission took.',
    PHASE_BUCKETS,
    'phase',
  ),
  lockHold: histogram('lock_hold_seconds', 'How long the lock was held at a time.', LOCK_BUCKETS),
  admissionsInFlight: gauge('admissions_in_flight', 'Admissions in progress in this process.'),
  lockWaiters: gauge('lock_waiters', 'Admissions of this process that wait for the lock.'),
  lockHeld: gauge('lock_held', 'Whether this process holds the lock (1) or not (0).'),
  redisUp: gauge('redis_up', 'Whether Redis answers (1) or not (0); absent without Redis.'),
  lockLost: counter('lock_lost_total', 'Leases that were lost while they were held.'),
  claimRaces: counter('claim_races_total', 'Claims taken back because another claim was on the same card.'),
  leftOversRemoved: counter('left_over_claims_removed_total', 'Created containers of dead gates that were removed.'),
  removedRuns: counter(
    'removed_runs_total',
    'Containers removed as never started that had run and ended just then; their runs are not run again.',
  ),
  cardsGranted: counter('cards_granted_total', 'Cards given to runs.'),
  configReloadSuccess: gauge(
    'config_reload_success',
    'Whether the file (tokens, policy) is in force as written (1) or not (0); absent where there is none.',
    'file',
  ),
  configReloadTimestamp: gauge(
    'config_reload_timestamp_seconds',
    'When the complete file was last read and took effect.',
    'file',
  ),
  buildInfo: gauge('build_info', 'Build of the gate; always 1.', 'version', 'revision'),
} as const satisfies Record<string, Metric>;

function metric(type: Metric['type'], name: string, help: string, labels: readonly string[]): Metric {
  return { name: `tuneplane_gpu_${name}`, type, help, labels };
}
