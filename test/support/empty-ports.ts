/** Books and a card book with nothing in them, for a look at the cards alone. */

import type { Books, CardBook } from '../../src/model/ports.js';

export const emptyBooks: Books = {
  list: async () => ({ kind: 'seen', value: { containers: [] }, tookMs: 0 }),
  findRun: async () => ({ kind: 'seen', value: [], tookMs: 0 }),
  describe: async () => ({ kind: 'seen', value: null, tookMs: 0 }),
};

export const emptyCardBook: CardBook = {
  remembered: () => [],
  remember: () => undefined,
  exclusions: () => [],
  exclude: async () => undefined,
  include: async () => false,
  forget: async () => false,
};
