/** `/cards`: the state of every card, and the operator's commands to exclude, include or forget one. */

import { Router, type Request, type RequestHandler, type Response } from 'express';
import { attemptOf, recordAttempt } from '../http/attempt.js';
import { principalOf, type Door } from '../http/auth.js';
import { methodNotAllowed } from '../http/errors.js';
import { fieldErrors } from '../http/field-errors.js';
import { onlyQuery, readJson, sendJson } from '../http/json.js';
import { sendProblem } from '../http/problem.js';
import type { FieldError } from '../model/admission.js';
import { cardUuid, type CardUuid } from '../model/card.js';
import type { JudgedCard } from '../model/occupancy.js';
import type { Admissions } from '../model/ports/admissions.js';
import type { Audit, ChangingAction } from '../model/ports/audit.js';
import type { CardStore } from '../model/ports/card-store.js';
import type { Observer, Observation } from '../model/ports/eyes.js';
import type { Clock } from '../model/ports/outside.js';
import { cardAnswer, cardsAnswer } from './card-answer.js';
import { excludeRequest } from './card-shape.js';

/** A reason is one sentence. */
const BODY_LIMIT_BYTES = 4 * 1024;

export interface CardRouteParts {
  readonly door: Door;
  readonly observer: Observer;
  readonly cardStore: CardStore;
  readonly admissions: Pick<Admissions, 'line'>;
  readonly audit: Audit;
  readonly clock: Clock;
  /** How long `GET /cards` waits for a probe, in milliseconds, before it reports the probe as blind. */
  readonly lookWithinMs: number;
}

export function createCardRoutes(parts: CardRouteParts): Router {
  const { door, audit, clock } = parts;
  const router = Router({ caseSensitive: true, strict: true });
  const operate = (action: ChangingAction, ...handlers: RequestHandler[]): void => {
    router
      .route(`/cards/:uuid/${action}`)
      .post(recordAttempt({ action, audit, clock }), door.for('operate'), onlyQuery(), ...handlers)
      .all(door.for(null), methodNotAllowed('POST'));
  };
  router
    .route('/cards')
    .get(door.for('read'), async (_req, res) => {
      const observation = await parts.observer.recent(parts.lookWithinMs);
      const { reservation } = parts.admissions.line(observation.occupancy);
      sendJson(res, 200, cardsAnswer(observation, clock.now(), reservation));
    })
    .all(door.for(null), methodNotAllowed('GET', 'HEAD'));
  operate('exclude', ...readJson(BODY_LIMIT_BYTES), (req, res) => exclude(parts, req, res));
  operate('include', (req, res) => include(parts, req, res));
  operate('forget', (req, res) => forget(parts, req, res));
  return router;
}

async function exclude(parts: CardRouteParts, req: Request, res: Response): Promise<void> {
  const nowMs = parts.clock.now();
  const errors = excludeErrors(req.body, nowMs);
  if (errors.length > 0) {
    const detail = `${errors[0]?.pointer || 'the body'}: ${errors[0]?.detail ?? ''}`;
    return sendProblem(res, { code: 'invalid_request', detail, errors });
  }
  const asked = excludeRequest.parse(req.body);
  const { reason } = asked;
  const until = asked.until === undefined ? null : isoTime(Date.parse(asked.until));
  const uuid = await knownCard(parts, req, res);
  if (uuid === null) return;
  await parts.cardStore.exclude({ uuid, reason, since: isoTime(nowMs), principal: principalOf(res).name, until });
  attemptOf(res).settle('excluded', { detail: until === null ? reason : `${reason} (until ${until})` });
  await showCard(parts, uuid, res);
}

/** A time that has passed would be an exclusion of nothing, most likely a wrong zone or date. */
function excludeErrors(body: unknown, nowMs: number): readonly FieldError[] {
  const errors = fieldErrors(excludeRequest, body);
  if (errors.length > 0) return errors;
  const { until } = excludeRequest.parse(body);
  if (until === undefined || Date.parse(until) > nowMs) return [];
  return [
    { pointer: '/until', detail: `expected a time in the future; got ${until}, and it is ${isoTime(nowMs)} here` },
  ];
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** Also for a card that was not excluded: the answer shows whether something else excludes it. */
async function include(parts: CardRouteParts, req: Request, res: Response): Promise<void> {
  const uuid = await knownCard(parts, req, res);
  if (uuid === null) return;
  const wasOut = await parts.cardStore.include(uuid);
  attemptOf(res).settle('included', { detail: wasOut ? null : 'it had not been excluded by an operator' });
  await showCard(parts, uuid, res);
}

/** Refused for a card that is in the machine, since the next look would remember it again. */
async function forget(parts: CardRouteParts, req: Request, res: Response): Promise<void> {
  const uuid = await knownCard(parts, req, res);
  if (uuid === null) return;
  const { gpus } = (await parts.observer.fresh()).snapshot;
  if (gpus.kind === 'seen' && gpus.value.rows.some((row) => row.uuid === uuid)) {
    const detail = `${uuid} is in the machine and would be remembered again at the next look; to stop its use, exclude it`;
    return sendProblem(res, { code: 'card_present', detail });
  }
  await parts.cardStore.forget(uuid);
  attemptOf(res).settle('forgotten');
  // Otherwise the next page would show the previous look, with the card still in it.
  await parts.observer.fresh();
  if (!res.destroyed) res.writeHead(204).end();
}

/** The card in the path; null where a 404 was sent, because no card has this uuid. */
async function knownCard(
  { observer, cardStore, lookWithinMs }: CardRouteParts,
  req: Request,
  res: Response,
): Promise<CardUuid | null> {
  const uuid = cardUuid(String(req.params['uuid']));
  attemptOf(res).note({ cards: [uuid.slice(0, 80)] });
  const isKnown = [...cardStore.remembered(), ...cardStore.exclusions()].some((card) => card.uuid === uuid);
  if (isKnown || findCard(await observer.recent(lookWithinMs), uuid) !== undefined) {
    attemptOf(res).begin();
    return uuid;
  }
  const detail = `there is no card with the uuid ${JSON.stringify(uuid.slice(0, 80))}; GET /cards lists them`;
  sendProblem(res, { code: 'not_found', detail });
  return null;
}

/** The card in a look that began after the change. Answers 204 for one that is excluded and has not been seen since. */
async function showCard({ observer, admissions }: CardRouteParts, uuid: CardUuid, res: Response): Promise<void> {
  const observation = await observer.fresh();
  const card = findCard(observation, uuid);
  if (card !== undefined) sendJson(res, 200, cardAnswer(card, admissions.line(observation.occupancy).reservation));
  else if (!res.destroyed) res.writeHead(204).end();
}

function findCard({ occupancy }: Observation, uuid: CardUuid): JudgedCard | undefined {
  return occupancy.cards.find((card) => card.uuid === uuid);
}
