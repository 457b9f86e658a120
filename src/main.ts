/** Runs the gate until a signal ends it, and shuts it down in order. The only place that ends the process. */

import { connectionShares, descriptorLimit, type Shares } from './http/connections/shares.js';
import { listen, type Listening } from './http/listen.js';
import type { Front } from './http/make-server.js';
import { createTlsFront } from './http/web-config/tls-front.js';
import { createLog } from './log/log.js';
import { sayOnce } from './log/say-once.js';
import { CannotStart } from './model/cannot-start.js';
import type { Log } from './model/ports/outside.js';
import { writeAddress } from './settings/addresses.js';
import type { Settings } from './settings/settings.js';
import { systemClock as clock } from './time/system-clock.js';
import { wireGate, type Gate } from './wire.js';

/** The grace for open connections after the admissions have ended. */
const CLOSE_GRACE_MS = 2000;

/** Runs the gate until a signal ends it, then ends the process: 0 after SIGTERM or SIGINT, 1 where it cannot start. */
export async function runGate(settings: Settings, warnings: readonly string[]): Promise<void> {
  const log = createLog({ level: settings.logLevel, format: settings.logFormat });
  for (const warning of warnings) log.warn({}, warning);
  try {
    const hangUp = onHangUp(log);
    const gate = await wireGate(settings, clock, log);
    hangUp.reread = () => gate.reread();
    const listening = await open(gate, settings, log);
    const signal = await untilSignal();
    log.info({ signal }, 'shutting down: no new admissions, waiting for those in progress');
    const ended = await gate.drain(settings.drainTimeoutS * 1000);
    if (!ended) log.warn({}, 'some admissions did not end in time; the containers that they created keep their claims');
    await Promise.all(listening.map((each) => each.close(CLOSE_GRACE_MS)));
    await gate.close();
    log.info({}, 'ended');
    process.exit(0);
  } catch (error) {
    if (error instanceof CannotStart) log.error({}, error.message);
    else log.error({ err: error }, 'the gate cannot go on');
    process.exit(1);
  }
}

async function open(gate: Gate, settings: Settings, log: Log): Promise<readonly Listening[]> {
  const { main: most, metrics: mostForMetrics } = shares(settings, log);
  const onTrouble = sayOnce(clock, SAY_AGAIN_MS, (sentence) => log.warn({}, sentence));
  const front: Front = (serve) => createTlsFront({ connections: gate.connections, handshakeMs: HANDSHAKE_MS, serve });
  try {
    // The read-only listener first: if it fails, no admission can have been accepted yet.
    const metrics =
      settings.metricsListen === null
        ? null
        : await listen(gate.metricsApp, settings.metricsListen, { connections: mostForMetrics, onTrouble, front });
    const main = await listen(gate.app, settings.listen, { connections: most, onTrouble, front });
    log.info({ listen: main.addresses.map(writeAddress), metrics: metrics?.addresses.map(writeAddress) }, 'listening');
    return metrics === null ? [main] : [main, metrics];
  } catch (error) {
    throw new CannotStart((error as Error).message, { cause: error });
  }
}

const HANDSHAKE_MS = 10_000;

/** Too many connections is a lasting state: logged once a minute. */
const SAY_AGAIN_MS = 60_000;

function shares({ maxWaiting, listen: main, metricsListen }: Settings, log: Log): Shares {
  const descriptors = descriptorLimit();
  const addresses = { mainAddresses: main.length, metricsAddresses: metricsListen?.length ?? 0 };
  const found = connectionShares(descriptors, { maxWaiting, ...addresses });
  if (found.main <= maxWaiting) {
    log.warn(
      { descriptors, connections: found.main },
      `this process may have ${descriptors} descriptors, so that an address takes ${found.main} connections; TUNEPLANE_MAX_WAITING is ${maxWaiting}, and each that waits has one`,
    );
  }
  return found;
}

/**
 * SIGHUP means "read your files again" to a daemon, which is never ended by it, not even while it starts. In a terminal it means
 * that the terminal is gone: the gate ends with it, in order.
 */
function onHangUp(log: Log): { reread: () => Promise<void> } {
  const hangUp = { reread: async (): Promise<void> => {} };
  process.on('SIGHUP', () => {
    if (process.stdin.isTTY) process.kill(process.pid, 'SIGTERM');
    else
      void hangUp
        .reread()
        .then(() => log.info({ signal: 'SIGHUP' }, 'tokens, policy and web config were looked at again'));
  });
  return hangUp;
}

/** Ctrl-C under npm arrives twice, from the terminal and from npm: a second signal this soon is the same request. */
const SAME_WISH_MS = 500;

/** SIGTERM from a service manager, SIGINT from a terminal; a second one ends the process at once. */
function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let askedAt: number | null = null;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (askedAt !== null && clock.monotonic() - askedAt > SAME_WISH_MS) process.exit(1);
        askedAt ??= clock.monotonic();
        resolve(signal);
      });
    }
  });
}
