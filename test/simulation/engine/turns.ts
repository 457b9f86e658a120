/** Serializes the operations on one container, first come, first served. */
export interface Turns {
  /** Calls `act` when it is its turn: at once, or `lagMs` after the previous one ended, since a job may end in between. */
  take(id: string, lagMs: number, act: (giveBack: () => void) => void): void;
  /** Cancels all waiting and current turns. */
  forget(): void;
}

export function createTurns(later: (ms: number, act: () => void) => void): Turns {
  const lines = new Map<string, (() => void)[]>();

  function giveBack(id: string, line: (() => void)[]): void {
    const next = line.shift();
    if (next !== undefined) next();
    else if (lines.get(id) === line) lines.delete(id);
  }

  return {
    take(id, lagMs, act) {
      const line = lines.get(id);
      const mine = line ?? [];
      const turn = (): void => act(() => giveBack(id, mine));
      if (line !== undefined) {
        line.push(() => later(lagMs, turn));
        return;
      }
      lines.set(id, mine);
      turn();
    },
    forget: () => lines.clear(),
  };
}
