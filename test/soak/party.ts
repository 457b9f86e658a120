/** Three real gates on one engine and one Redis, each with a state folder of its own, that can die and restart. */

import { setTimeout as sleep } from 'node:timers/promises';
import { defaultMachine } from '../../src/stand-in/machine/build-machine.js';
import type { Machine } from '../../src/stand-in/machine/machine.js';
import { startGate, type Gate } from '../support/gate.js';

/** Short, so that minutes suffice for what takes hours in production. */
export const LIMITS = { leaseMs: 3000, graceS: 3, probeS: 2, admitS: 6, startS: 6 };

interface Member {
  gate: Gate;
  /** Set while the test itself ends it. */
  ending: boolean;
}

export interface Party {
  /** Any gate that is up. */
  any(pick: (up: readonly Gate[]) => Gate): Gate;
  all(): readonly Gate[];
  /** SIGKILL, and a new process on the same state a moment later. */
  killAndRestart(which: number, downMs: number): Promise<void>;
  /** SIGSTOP for a while. */
  freeze(which: number, ms: number): Promise<void>;
  setMachine(machine: Machine): void;
  /** Sentences about gates that ended by themselves or logged an error. */
  complaints(): readonly string[];
  stop(): Promise<readonly (number | null)[]>;
}

export async function startParty(engine: { dockerHost: string }, redisUrl: string, size = 3): Promise<Party> {
  let machine = defaultMachine();
  const complaints: string[] = [];
  const start = (stateDir?: string): Promise<Gate> =>
    startGate({
      engine,
      redisUrl,
      machine,
      ...(stateDir === undefined ? {} : { stateDir }),
      settings: {
        TUNEPLANE_PROCESSES: String(size),
        TUNEPLANE_LOCK_LEASE_MS: String(LIMITS.leaseMs),
        TUNEPLANE_CLAIM_GRACE_S: String(LIMITS.graceS),
        TUNEPLANE_PROBE_TIMEOUT_S: String(LIMITS.probeS),
        TUNEPLANE_ADMIT_TIMEOUT_S: String(LIMITS.admitS),
        TUNEPLANE_START_TIMEOUT_S: String(LIMITS.startS),
      },
    });
  const member = async (stateDir?: string): Promise<Member> => {
    const one: Member = { gate: await start(stateDir), ending: false };
    void listenTo(one);
    return one;
  };
  const listenTo = async (one: Member): Promise<void> => {
    const exit = await one.gate.exited;
    if (!one.ending) {
      complaints.push(`a gate ended by itself: ${JSON.stringify(exit)} ${one.gate.stderr().slice(-500)}`);
    }
    complaints.push(...errorsIn(one.gate.stderr()));
  };
  const members = await Promise.all(Array.from({ length: size }, () => member()));
  const up = (): Gate[] => members.filter(({ ending }) => !ending).map(({ gate }) => gate);

  return {
    any: (pick) => pick(up().length > 0 ? up() : members.map(({ gate }) => gate)),
    all: up,
    async killAndRestart(which, downMs) {
      const old = members[which];
      if (old === undefined || old.ending) return;
      old.ending = true;
      await old.gate.kill();
      await sleep(downMs);
      const reborn = await member(old.gate.stateDir);
      reborn.gate.setMachine(machine);
      members[which] = reborn;
    },
    async freeze(which, ms) {
      const one = members[which];
      if (one === undefined || one.ending) return;
      process.kill(one.gate.pid, 'SIGSTOP');
      await sleep(ms);
      process.kill(one.gate.pid, 'SIGCONT');
    },
    setMachine(next) {
      machine = next;
      for (const gate of up()) gate.setMachine(next);
    },
    complaints: () => complaints,
    async stop() {
      for (const one of members) one.ending = true;
      const exits = await Promise.all(members.map(({ gate }) => gate.stop()));
      return exits.map(({ code }) => code);
    },
  };
}

/** Lines that a gate logged as errors: each would be a bug. A lost lock is expected in the storm. */
function errorsIn(stderr: string): string[] {
  return stderr.split('\n').filter((line) => line.includes('"level":"error"') && !line.includes('the lock was lost'));
}
