/** The HTTP routes on a real port, with hand-written fakes behind them. */

import express, { type Express } from 'express';
import { afterEach } from 'vitest';
import { type AppParts, createApp } from '../../src/app.js';
import { allowedHosts } from '../../src/http/host.js';
import { listen, type Listening } from '../../src/http/listen.js';
import type { TimeLimits } from '../../src/http/make-server.js';
import { createMeter } from '../../src/metrics/meter.js';
import { metricsRoutes } from '../../src/metrics/routes.js';
import type { Decision, JobSpec, Outcome, Principal, RefusedCode, Run } from '../../src/model/admission.js';
import { cardIndex, cardUuid } from '../../src/model/card.js';
import type { RunFilter, Runs, StopDone } from '../../src/model/ports/admissions.js';
import type { AuditEntry } from '../../src/model/ports/audit.js';
import type { OutputWanted } from '../../src/model/ports/books.js';
import type { CardStore } from '../../src/model/ports/card-store.js';
import type { Observation } from '../../src/model/ports/eyes.js';
import type { Log } from '../../src/model/ports/outside.js';
import type { Exclusion, Probed, RememberedCard } from '../../src/model/snapshot.js';
import { statusAnswer } from '../../src/page/status-answer.js';
import { RULES_WITHOUT_A_FILE } from '../../src/policy/policy-rules.js';
import { createPolicy } from '../../src/policy/policy.js';
import { systemClock } from '../../src/time/system-clock.js';
import { nothingOffLimits } from '../support/off-limits.js';
import { watchedMachine } from './machine.js';

export interface Call {
  readonly spec: JobSpec;
  readonly principal: Principal;
  readonly gone: AbortSignal;
  readonly holdMs: number;
}

export interface Gate {
  readonly url: string;
  readonly app: Express;
  readonly listening: Listening;
  /** The calls of the admission, without dry runs. */
  readonly calls: Call[];
  /** Whether one more request may be held. */
  canHold: boolean;
  readonly dryRuns: JobSpec[];
  readonly outcomes: Outcome[];
  readonly audit: AuditEntry[];
  /** The codes with which callers were refused. */
  readonly refused: RefusedCode[];
  readonly logged: { level: string; data: object; sentence: string }[];
  readonly removed: string[];
  readonly givenUp: string[];
  readonly stopped: { runId: string; graceSeconds: number; by: Principal }[];
  readonly read: { runId: string; wanted: OutputWanted; by: Principal }[];
  readonly filters: RunFilter[];
  readonly cardStore: MemoryBook;
  /** The answers to the next admissions and dry runs. */
  decide: (call: Call) => Decision | Promise<Decision>;
  runs: Probed<readonly Run[]>;
  removal: Awaited<ReturnType<Runs['remove']>>;
  givingUp: Awaited<ReturnType<Runs['giveUp']>>;
  stopping: StopDone;
  output: (signal: AbortSignal) => Awaited<ReturnType<Runs['output']>>;
  look: () => Observation;
  ready: boolean;
  post(body: unknown, init?: { headers?: Record<string, string>; query?: string }): Promise<Response>;
}

const open: Listening[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((listening) => listening.close(0)));
});

/** Listens on a free port of 127.0.0.1 and closes after the test. */
export async function startGate(over: Partial<AppParts> = {}, limits?: TimeLimits): Promise<Gate> {
  const logged: Gate['logged'] = [];
  const gate: Gate = {
    url: '',
    app: express(),
    listening: { addresses: [], close: () => Promise.resolve(true) },
    calls: [],
    canHold: true,
    dryRuns: [],
    outcomes: [],
    audit: [],
    refused: [],
    logged,
    removed: [],
    givenUp: [],
    stopped: [],
    read: [],
    filters: [],
    cardStore: new MemoryBook(),
    decide: () => admitted(),
    runs: { kind: 'seen', value: [], tookMs: 1 },
    removal: 'removed',
    givingUp: 'given_up',
    stopping: 'removed',
    output: () => 'unknown',
    look: () => watchedMachine(),
    ready: true,
    post(body, { headers = {}, query = '' } = {}) {
      return fetch(`${this.url}/admit${query}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
    },
  };
  const app = createApp({ ...partsOf(gate), ...over });
  const listening = await listen(
    app,
    [{ kind: 'tcp', host: '127.0.0.1', port: 0 }],
    limits === undefined ? {} : { limits },
  );
  open.push(listening);
  const [address] = listening.addresses;
  if (address?.kind !== 'tcp') throw new Error('not listening');
  return Object.assign(gate, { app, listening, url: `http://127.0.0.1:${address.port}` });
}

const NOTHING_DOING = {
  inFlight: 0,
  lockWaiters: 0,
  lockHeld: false,
  redisUp: null,
  draining: false,
  line: { waiting: 0, oldestMs: null },
};

function partsOf(gate: Gate): AppParts {
  return {
    keys: { kind: 'open', hosts: allowedHosts([{ kind: 'tcp', host: '127.0.0.1', port: 0 }], ['gate.internal']) },
    version: '1.2.3',
    countRefused: (code) => void gate.refused.push(code),
    headers: (_req, _res, next) => next(),
    scrapers: (_req, _res, next) => next(),
    metrics: metricsRoutes({
      observer: { recent: () => Promise.resolve(gate.look()) },
      status: () => NOTHING_DOING,
      meter: createMeter(),
      process: null,
      holders: true,
      cardsReserved: () => 0,
      ruleFiles: () => [],
      log: collect(gate.logged),
    }),
    readiness: () => {
      const part = { ok: gate.ready, detail: gate.ready ? null : 'not now' };
      return Promise.resolve({
        ready: gate.ready,
        parts: { runtime: part, lock: part, probe: part, draining: part, files: part },
      });
    },
    log: collect(gate.logged),
    admissions: {
      canHold: () => gate.canHold,
      line: () => ({ places: [], reservation: null }),
      async admit(spec, principal, gone, holdMs = 0) {
        const call = { spec, principal, gone, holdMs };
        gate.calls.push(call);
        return gate.decide(call);
      },
      async dryRun(spec) {
        gate.dryRuns.push(spec);
        return gate.decide({
          spec,
          principal: { name: 'dry', roles: [] },
          gone: new AbortController().signal,
          holdMs: 0,
        });
      },
      status: () => NOTHING_DOING,
    },
    policy: createPolicy({ rules: () => RULES_WITHOUT_A_FILE, offLimits: nothingOffLimits }),
    meter: { outcome: (outcome) => void gate.outcomes.push(outcome) },
    audit: { write: (entry) => void gate.audit.push(entry) },
    clock: { ...systemClock, now: () => Date.parse('2026-11-29T12:00:01.000Z') },
    runs: {
      list: (filter = {}) => {
        gate.filters.push(filter);
        return Promise.resolve(gate.runs);
      },
      get: (runId) => {
        const { runs } = gate;
        if (runs.kind === 'blind') return Promise.resolve(runs);
        return Promise.resolve({ ...runs, value: runs.value.find((run) => run.runId === runId) ?? null });
      },
      remove: (runId) => {
        gate.removed.push(runId);
        return Promise.resolve(gate.removal);
      },
      removeWaiting: (runId) => {
        gate.removed.push(`${runId} waiting`);
        return Promise.resolve('removed');
      },
      giveUp: (runId) => {
        gate.givenUp.push(runId);
        return Promise.resolve(gate.givingUp);
      },
      stop: (runId, graceSeconds, by) => {
        gate.stopped.push({ runId, graceSeconds, by });
        return Promise.resolve(gate.stopping);
      },
      output: (runId, wanted, by, signal) => {
        gate.read.push({ runId, wanted, by });
        return Promise.resolve(gate.output(signal));
      },
    },
    observer: {
      recent: () => Promise.resolve(gate.look()),
      fresh: () => Promise.resolve(gate.look()),
      rejudge: () => gate.look().occupancy,
    },
    cardStore: gate.cardStore,
    lookWithinMs: 1_000,
    page: pageOf(gate),
  };
}

function pageOf(gate: Gate): AppParts['page'] {
  const file = (type: string, text: string) => ({ type, text });
  const part = { ok: true, detail: null };
  const parts = { runtime: part, lock: part, probe: part, draining: part, files: part };
  return {
    files: {
      html: file('text/html', '<!doctype html>'),
      parts: new Map([['main.js', file('text/javascript', '"use strict";')]]),
      readme: file('text/plain', '# the gate'),
    },
    status: () =>
      statusAnswer({
        observer: { recent: async () => gate.look() },
        lookWithinMs: 1_000,
        readiness: () => ({ ready: gate.ready, parts }),
        admissions: { status: () => NOTHING_DOING, line: () => ({ places: [], reservation: null }) },
        lock: { problem: () => null },
        lastSeen: { times: () => ({ gpus: null, processes: null, health: null, docker: null, kernel: null }) },
        decisions: { recent: () => [] },
        clock: { ...systemClock, now: () => Date.parse('2026-11-29T12:00:01.000Z') },
        machine: 'gpu-01',
        version: '1.2.3',
        startedAtMs: Date.parse('2026-11-29T10:00:00.000Z'),
      }),
  };
}

export function collect(lines: Gate['logged']): Log {
  const at = (level: string) => (data: object, sentence: string) => void lines.push({ level, data, sentence });
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** The card store, in memory. */
export class MemoryBook implements CardStore {
  readonly cards: RememberedCard[] = [];
  readonly out: Exclusion[] = [];
  remembered = (): readonly RememberedCard[] => this.cards;
  remember = (): void => undefined;
  exclusions = (): readonly Exclusion[] => this.out;
  async exclude(exclusion: Exclusion): Promise<void> {
    this.out.push(exclusion);
  }
  async include(uuid: string): Promise<boolean> {
    return this.out.splice(0).some((each) => each.uuid === uuid);
  }
  async forget(uuid: string): Promise<boolean> {
    const at = this.cards.findIndex((card) => card.uuid === uuid);
    return at !== -1 && this.cards.splice(at, 1).length === 1;
  }
}

/** The smallest valid request. */
export const REQUEST = { run_id: 'train-17', count: 2, container: { image: 'registry.local/train:1.4' } };

export function admitted(over: Partial<Decision & { kind: 'admitted' }> = {}): Decision & { kind: 'admitted' } {
  return {
    kind: 'admitted',
    replayed: false,
    run: { name: 'tuneplane-train-17', containerId: 'c0ffee', state: 'running', exitCode: null },
    cards: [
      { index: cardIndex(0), uuid: cardUuid('GPU-0'), name: 'NVIDIA H100 80GB HBM3' },
      { index: cardIndex(1), uuid: cardUuid('GPU-1'), name: 'NVIDIA H100 80GB HBM3' },
    ],
    placement: { islands: null, slowest_link: null, consecutive: true, aligned: true, reasons: ['consecutive'] },
    admittedBlind: false,
    ...over,
  };
}
