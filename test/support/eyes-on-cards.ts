/** Empty books and an empty card store, and eyes over them that see only the cards. */

import type { Books } from '../../src/model/ports/books.js';
import type { CardStore } from '../../src/model/ports/card-store.js';
import type { Eyes } from '../../src/model/ports/eyes.js';
import { createEyes } from '../../src/probe/look.js';
import { createNvidiaSmi } from '../../src/probe/nvidia-smi/nvidia-smi.js';
import { systemClock } from '../../src/time/system-clock.js';
import { recordingLog } from '../probe/nvidia-smi/program.js';

const emptyBooks: Pick<Books, 'list'> = {
  list: async () => ({ kind: 'seen', value: { containers: [] }, tookMs: 0 }),
};

const emptyCardBook: CardStore = {
  remembered: () => [],
  remember: () => undefined,
  exclusions: () => [],
  exclude: async () => undefined,
  include: async () => false,
  forget: async () => false,
};

/** The real eyes over this `nvidia-smi`, without any container or known card. */
export function eyesOnCards(program: string, timeoutMs: number, limitMs: number): Eyes {
  return createEyes({
    smi: createNvidiaSmi({ program, timeoutMs, checkHealth: true, clock: systemClock, log: recordingLog() }),
    books: emptyBooks,
    cardStore: emptyCardBook,
    clock: systemClock,
    log: recordingLog(),
    checkExternal: true,
    checkHealth: true,
    limitMs,
    onLook: () => undefined,
  });
}
