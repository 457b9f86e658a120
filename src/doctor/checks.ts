/** All checks of an installation, in the order of display. */

import { checkCards, createCardsAsked } from './check-cards.js';
import { checkDocker } from './check-docker.js';
import { checkPlaces } from './check-places.js';
import { checkRedis } from './check-redis.js';
import { checkSystem } from './check-system.js';
import type { Check } from './check.js';
import type { Installation } from './installation.js';

/** What several checks need is queried once, when the first of them needs it. */
export function checksOf(installation: Installation): readonly Check[] {
  const cards = createCardsAsked(installation);
  return [
    ...checkCards(installation, cards),
    ...checkDocker(installation, cards.gpus),
    ...checkRedis(installation),
    ...checkPlaces(installation),
    ...checkSystem(installation, cards.gpus),
  ];
}
