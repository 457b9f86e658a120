/** Books and a card book with nothing in them, and eyes over them that look at the cards alone. */

import type { Books, CardBook, Eyes } from '../../src/model/ports.js';
import { createEyes } from '../../src/probe/look.js';
import { createNvidiaSmi } from '../../src/probe/nvidia-smi/nvidia-smi.js';
import { keptLog, trueClock } from '../probe/nvidia-smi/program.js';

const emptyBooks: Books = {
  list: async () => ({ kind: 'seen', value: { containers: [] }, tookMs: 0 }),
  findRun: async () => ({ kind: 'seen', value: [], tookMs: 0 }),
  describe: async () => ({ kind: 'seen', value: null, tookMs: 0 }),
};

const emptyCardBook: CardBook = {
  remembered: () => [],
  remember: () => undefined,
  exclusions: () => [],
  exclude: async () => undefined,
  include: async () => false,
  forget: async () => false,
};

/** The real eyes over this `nvidia-smi`, where no container and no card is known beforehand. */
export function eyesOnCards(program: string, timeoutMs: number, limitMs: number): Eyes {
  return createEyes({
    smi: createNvidiaSmi({ program, timeoutMs, checkHealth: true, clock: trueClock, log: keptLog() }),
    books: emptyBooks,
    cardBook: emptyCardBook,
    clock: trueClock,
    log: keptLog(),
    checkExternal: true,
    checkHealth: true,
    limitMs,
    onLook: () => undefined,
  });
}
