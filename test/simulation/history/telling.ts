/** Describes the events of a history: calls, what really happens to containers, and the gates' log. */

import type { Log } from '../../../src/model/ports/outside.js';
import type { EngineWatch, ModelContainer } from '../engine/store.js';
import type { Fate } from '../process/fates.js';
import type { Came, WireStory } from '../process/wire.js';
import { runOf } from '../watch/offences.js';
import type { World } from './world.js';

/** Describes each call: the request, its fault, and the answer. */
export function wireTelling({ tell, count }: World): WireStory {
  return {
    sent(life, server, about, fate) {
      if (!fate.plain) count(`fault: ${faultOf(fate)}`);
      tell(() => `${life.name} asks ${server}: ${about}${fate.plain ? '' : ` (${faultOf(fate)})`}`);
    },
    came(life, server, about, came) {
      tell(() => `${life.name} hears from ${server}: ${about}: ${inWords(came)}`);
    },
  };
}

/** The same watch, but also describes what really happens to containers. */
export function watchTelling({ tell, count }: World, watch: EngineWatch): EngineWatch {
  const of = (container: ModelContainer): string => `${container.id} of ${runOf(container)}`;
  return {
    created(container, by, body) {
      tell(() => `  engine: ${of(container)} is there, ${cardsOf(container)}`);
      watch.created(container, by, body);
    },
    started(container, by) {
      count('starts');
      tell(() => `  engine: ${of(container)} runs, start ${container.starts}, by ${by}`);
      watch.started(container, by);
    },
    ended(container) {
      tell(() => `  engine: ${of(container)} has ended`);
      watch.ended(container);
    },
    removed(container, by) {
      tell(() => `  engine: ${of(container)} is removed by ${by}`);
      watch.removed(container, by);
    },
  };
}

export function logTelling({ tell }: World, name: string): Log {
  const says = (_data: object, sentence: string): void => tell(() => `${name} says: ${sentence}`);
  return { debug: () => {}, info: says, warn: says, error: says };
}

function faultOf({ thereMs, insideMs, end, process }: Fate): string {
  if (process !== null)
    return `the process ${process.what === 'freeze' ? 'freezes' : 'dies'} when it is ${process.when}`;
  if (end === 'cut_after') return 'done, its answer is lost';
  if (end === 'cut_before') return 'lost on its way';
  if (end === 'cut_amid') return 'its connection breaks while it is done';
  if (end === 'silent') return 'done, never answered';
  if (end === 'fails') return 'the server fails';
  if (thereMs > 500) return 'takes very long to arrive';
  if (thereMs > 5) return 'slow to arrive';
  if (insideMs > 5) return 'slow inside';
  return 'its answer is slow';
}

function inWords(came: Came): string {
  if (typeof came === 'string') return came;
  const { status, body } = came;
  if (Array.isArray(body)) return body.map(entry).join(', ') || 'nothing';
  if (status >= 300) return `${status} ${String(body)}`;
  return body === '' || body === null ? String(status) : `${status} ${JSON.stringify(body).slice(0, 60)}`;
}

function entry(one: { readonly Id: string; readonly State: string }): string {
  return `${one.Id} ${one.State}`;
}

function cardsOf({ cards }: ModelContainer): string {
  return cards.length === 0 ? 'on no card' : `on ${cards.map((uuid) => Number(uuid.slice(4, 12))).join(' and ')}`;
}
