import type { ModelContainer } from '../engine/store.js';
import { runOf, type Facts } from './offences.js';

/** Counts what really ran: on each card, of each container, and of each run since it was last removed on purpose. */
export interface Executions {
  /** `byGate`: otherwise a person started it by hand, for which no gate is responsible. */
  started(container: ModelContainer, byGate: boolean): void;
  ended(container: ModelContainer): void;
  /** `byGate`: on its own, so that it forgets that the run was executed; otherwise by a DELETE, or by a person. */
  removed(container: ModelContainer, byGate: boolean): void;
}

/** What gates started of a run. */
interface Ledger {
  executions: number;
  forgotten: boolean;
}

export function countExecutions({ offend }: Facts, counted: (what: string) => void): Executions {
  const running = new Set<ModelContainer>();
  const startedByGates = new Map<ModelContainer, number>();
  const ledgers = new Map<string, Ledger>();

  function ledgerOf(container: ModelContainer): Ledger {
    const run = runOf(container);
    const ledger = ledgers.get(run) ?? { executions: 0, forgotten: false };
    ledgers.set(run, ledger);
    return ledger;
  }

  function execute(container: ModelContainer): void {
    const starts = (startedByGates.get(container) ?? 0) + 1;
    startedByGates.set(container, starts);
    if (starts > 1) offend('an id was started twice', `${container.id} of ${runOf(container)}`);
    for (const card of container.cards) {
      const on = [...running].filter(({ cards }) => cards.includes(card)).map(({ id }) => id);
      if (on.length > 1) offend('two run on one card', `${on.join(' and ')} on ${card}`);
    }
    const ledger = ledgerOf(container);
    ledger.executions += 1;
    if (ledger.executions === 1) return;
    if (ledger.forgotten) counted('a run ran again, since a gate had removed what had ended');
    else offend('a run was executed twice', `${runOf(container)}, now in ${container.id}`);
  }

  return {
    started(container, byGate) {
      running.add(container);
      if (byGate) execute(container);
    },

    ended: (container) => void running.delete(container),

    removed(container, byGate) {
      if (container.starts === 0) return;
      const ledger = ledgerOf(container);
      if (byGate) counted('a gate removed what had ended, behind a stalled look');
      else ledger.executions = 0;
      ledger.forgotten = byGate;
    },
  };
}
