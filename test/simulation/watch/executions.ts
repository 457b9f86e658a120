import type { ModelContainer } from '../engine/engine.js';
import { runOf, type Facts } from './offences.js';

/** Counts what really ran: on each card, of each container, and of each run since somebody last removed it on purpose. */
export interface Executions {
  started(container: ModelContainer): void;
  ended(container: ModelContainer): void;
  /** `onPurpose`: a DELETE, or somebody's own hand; a gate that takes it of itself forgets that it has run. */
  removed(container: ModelContainer, onPurpose: boolean): void;
}

interface Ledger {
  executions: number;
  forgotten: boolean;
}

export function countExecutions({ offend }: Facts, counted: (what: string) => void): Executions {
  const running = new Set<ModelContainer>();
  const ledgers = new Map<string, Ledger>();

  function ledgerOf(container: ModelContainer): Ledger {
    const run = runOf(container);
    const ledger = ledgers.get(run) ?? { executions: 0, forgotten: false };
    ledgers.set(run, ledger);
    return ledger;
  }

  return {
    started(container) {
      if (container.starts > 1) offend('an id was started twice', `${container.id} of ${runOf(container)}`);
      running.add(container);
      for (const card of container.cards) {
        const on = [...running].filter(({ cards }) => cards.includes(card)).map(({ id }) => id);
        if (on.length > 1) offend('two run on one card', `${on.join(' and ')} on ${card}`);
      }
      const ledger = ledgerOf(container);
      ledger.executions += 1;
      if (ledger.executions === 1) return;
      if (ledger.forgotten) counted('a run ran again, since a gate had removed what had ended');
      else offend('a run was executed twice', `${runOf(container)}, now in ${container.id}`);
    },

    ended: (container) => void running.delete(container),

    removed(container, onPurpose) {
      if (container.starts === 0) return;
      const ledger = ledgerOf(container);
      if (!onPurpose) counted('a gate removed what had ended, behind a stalled look');
      if (onPurpose) ledger.executions = 0;
      ledger.forgotten = !onPurpose;
    },
  };
}
