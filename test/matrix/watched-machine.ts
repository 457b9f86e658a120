/** A machine with the gate's real eyes, judge and metrics page, all in this process and with a stopped clock. */

import { createExposition } from '../../src/metrics/exposition.js';
import { createMeter } from '../../src/metrics/meter.js';
import type { JudgeRules } from '../../src/model/occupancy.js';
import type { Books } from '../../src/model/ports/books.js';
import type { CardStore } from '../../src/model/ports/card-store.js';
import type { Observation } from '../../src/model/ports/eyes.js';
import type { RememberedCard } from '../../src/model/snapshot.js';
import { judge } from '../../src/occupancy/judge.js';
import { createEyes } from '../../src/probe/look.js';
import { askThrough } from '../../src/probe/nvidia-smi/nvidia-smi.js';
import type { Machine } from '../../src/stand-in/machine/machine.js';
import { handClock, IDLE } from '../metrics/occupancies.js';
import { RULES, quietLog } from '../support/admissions.js';
import { replayedSlot, type Retell } from './replayed-slot.js';

/** The surroundings of the machine; everything has a default. */
export interface Around {
  /** The runtime's books; without containers by default. */
  readonly books?: Pick<Books, 'list'>;
  /** Settings that differ from the defaults. */
  readonly rules?: Partial<JudgeRules>;
  /** The cards seen before this gate started. */
  readonly remembered?: readonly RememberedCard[];
}

/** The result of a look: everything that any page can show. */
export interface Look extends Observation {
  /** The part of the metrics page from this look, without the gate's counters. */
  readonly page: string;
  /** The whole metrics page. */
  readonly wholePage: string;
}

export interface WatchedMachine {
  /** May be changed or replaced between two looks. */
  machine: Machine;
  /** Changes the output. */
  retell: Retell;
  books: Pick<Books, 'list'>;
  /** Takes a new look. */
  look(): Promise<Look>;
  /** Advances the clock. */
  forward(milliseconds: number): void;
  /** The remembered cards now. */
  remembered(): readonly RememberedCard[];
}

/** Puts a machine behind the eyes. State between looks is kept as in a running gate. */
export function watchMachine(machine: Machine, around: Around = {}): WatchedMachine {
  const clock = handClock();
  const meter = createMeter();
  const rules = { ...RULES, ...around.rules };
  const { checkExternal, checkHealth } = rules;
  const cardStore = memoryBook(around.remembered ?? []);
  const smi = askThrough(
    () =>
      replayedSlot(
        () => self.machine,
        () => self.retell,
      ),
    { timeoutMs: LIMIT_MS, checkHealth, clock, log: quietLog },
  );
  const eyes = createEyes({
    smi,
    books: {
      list: () => self.books.list(),
    },
    cardStore,
    clock,
    log: quietLog,
    checkExternal,
    checkHealth,
    limitMs: LIMIT_MS,
    onLook: meter.looked,
  });
  const pageOf = createExposition(meter, {
    holders: true,
    cardsReserved: () => 0,
    ruleFiles: () => [],
    process: null,
    onFault: (fault) => {
      throw fault;
    },
  });
  const self: WatchedMachine = {
    machine,
    retell: (stdout) => stdout,
    books: around.books ?? EMPTY_BOOKS,
    forward: (milliseconds) => clock.forward(milliseconds),
    remembered: () => cardStore.remembered(),
    async look() {
      const snapshot = await eyes.fresh();
      const occupancy = judge(snapshot, rules);
      const wholePage = await pageOf({ snapshot, occupancy }, IDLE);
      return { snapshot, occupancy, wholePage, page: wholePage.slice(0, wholePage.indexOf(FIRST_OF_THE_GATE)) };
    },
  };
  return self;
}

const LIMIT_MS = 10_000;
/** From here on the page is about the gate and not the look. */
const FIRST_OF_THE_GATE = '# HELP tuneplane_gpu_runs_waiting';

const EMPTY_BOOKS: Pick<Books, 'list'> = {
  list: async () => ({ kind: 'seen', value: { containers: [] }, tookMs: 0 }),
};

/** The cards seen, in memory. */
function memoryBook(before: readonly RememberedCard[]): CardStore {
  let cards = before;
  return {
    remembered: () => cards,
    remember: (seen) => {
      cards = seen;
    },
    exclusions: () => [],
    exclude: async () => undefined,
    include: async () => false,
    forget: async () => false,
  };
}
