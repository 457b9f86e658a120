import type { AppParts } from '../../src/app.js';
import { listen, type Listening } from '../../src/http/listen.js';
import { readinessBy } from '../../src/http/readiness.js';
import type { LineView } from '../../src/model/line.js';
import type { JudgeRules } from '../../src/model/occupancy.js';
import type { GateStatus } from '../../src/model/ports/admissions.js';
import type { AuditEntry } from '../../src/model/ports/audit.js';
import type { Snapshot } from '../../src/model/snapshot.js';
import { judge } from '../../src/occupancy/judge.js';
import { createLastSeen } from '../../src/page/last-seen.js';
import { readPageFiles } from '../../src/page/page-files.js';
import { rememberDecisions } from '../../src/page/recent-decisions.js';
import { statusAnswer } from '../../src/page/status-answer.js';
import { startGate } from '../http/gate.js';
import { rules, snapshot } from '../occupancy/make.js';

/** The page from the last build. */
export const builtPage = () => readPageFiles(new URL('../../dist/page/client/', import.meta.url));

/** The real app with the real judge; the test can change the machine while a reader looks. */
export interface ShownGate {
  readonly url: string;
  snapshot: Snapshot;
  rules: JudgeRules;
  line: LineView;
  gate: GateStatus;
  lockProblem: string | null;
  machine: string;
  /** How long after the look's start the gate answers, in milliseconds. */
  ageMs: number;
  /** The number of the page's requests. */
  asked: number;
  decide(entry: Partial<AuditEntry>): void;
  /** Closes the gate's address, and opens the same one again. */
  leave(): Promise<void>;
  comeBack(): Promise<void>;
}

export async function showGate(but: Partial<ShownGate> = {}, over: Partial<AppParts> = {}): Promise<ShownGate> {
  const decisions = rememberDecisions({ write: () => undefined });
  const lastSeen = createLastSeen();
  const shown: ShownGate = {
    url: '',
    snapshot: snapshot(),
    rules: rules(),
    line: { places: [], reservation: null },
    gate: {
      inFlight: 0,
      lockWaiters: 0,
      lockHeld: false,
      redisUp: null,
      draining: false,
      line: { waiting: 0, oldestMs: null },
    },
    lockProblem: null,
    machine: 'gpu-01',
    ageMs: 400,
    asked: 0,
    decide: (entry) => decisions.write({ ...entryOf(shown), ...entry }),
    leave: async () => void (await gate.listening.close(0)),
    comeBack: async () => void back.push(await listen(gate.app, gate.listening.addresses)),
    ...but,
  };
  const recent = async () => {
    shown.asked += 1;
    lastSeen.looked(shown.snapshot);
    return { snapshot: shown.snapshot, occupancy: judge(shown.snapshot, shown.rules) };
  };
  const now = () => shown.snapshot.startedAtMs + shown.ageMs;
  const lock = {
    problem: () => shown.lockProblem,
    get up() {
      return shown.gate.redisUp;
    },
    get held() {
      return shown.gate.lockHeld;
    },
    acquire: async () => null,
  };
  const admissions = { status: () => shown.gate, line: () => shown.line };
  const page = {
    files: builtPage(),
    status: () =>
      statusAnswer({
        observer: { recent },
        lookWithinMs: 1000,
        readiness: (watched) =>
          readinessBy(watched, {
            lock,
            admissions,
            admitWhenBlind: false,
            runtimeTrouble: () => null,
            ruleFiles: () => [],
          }),
        admissions,
        lock,
        lastSeen,
        decisions,
        clock: { now },
        machine: shown.machine,
        version: '1.2.3',
        startedAtMs: now() - 3 * 86_400_000 - 4 * 3_600_000,
      }),
  };
  const gate = await startGate({ page, ...over });
  return Object.assign(shown, { url: gate.url });
}

/** Restarted gates; their address must be free before the next restart. */
const back: Listening[] = [];
export async function closeThoseThatCameBack(): Promise<void> {
  await Promise.all(back.splice(0).map((listening) => listening.close(0)));
}

function entryOf({ snapshot: { startedAtMs } }: ShownGate): AuditEntry {
  return {
    at: new Date(startedAtMs).toISOString(),
    action: 'admit',
    principal: 'console',
    remote: '127.0.0.1',
    runId: 'train-17',
    outcome: 'admitted',
    detail: null,
    count: 2,
    image: 'registry.local/train:1.4',
    cards: [],
    containerId: null,
    tookMs: 12,
  };
}
