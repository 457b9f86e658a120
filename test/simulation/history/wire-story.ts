import type { Fate } from '../process/fates.js';
import type { Came, WireStory } from '../process/wire.js';
import type { World } from './world.js';

/** Tells of each call: what is asked, what will go wrong with it, and what came back. */
export function wireStory({ tell, count }: World): WireStory {
  return {
    sent(life, server, about, fate) {
      if (!fate.plain) count(`fault: ${faultOf(fate)}`);
      tell(() => `${life.name} asks ${server}: ${about}${fate.plain ? '' : ` (${faultOf(fate)})`}`);
    },
    came(life, server, about, came) {
      tell(() => `${life.name} hears from ${server}: ${about}: ${words(came)}`);
    },
  };
}

function faultOf({ thereMs, insideMs, backMs, end, process }: Fate): string {
  if (process !== null)
    return `the process ${process.what === 'freeze' ? 'freezes' : 'dies'} when it is ${process.when}`;
  if (end === 'cut_after') return 'done, its answer is lost';
  if (end === 'cut_before') return 'lost on its way';
  if (end === 'silent') return 'done, never answered';
  if (end === 'fails') return 'the server fails';
  if (thereMs > 500) return 'takes very long to arrive';
  if (thereMs > 5) return 'slow to arrive';
  return insideMs > 5 ? 'slow inside' : `its answer is ${backMs > 5 ? 'slow' : 'as usual'}`;
}

function words(came: Came): string {
  if (typeof came === 'string') return came;
  const { status, body } = came;
  if (Array.isArray(body)) return body.map(entry).join(', ') || 'nothing';
  return status < 300 ? `${status}${shortly(body)}` : `${status} ${String(body)}`;
}

function entry(one: { readonly Id: string; readonly State: string }): string {
  return `${one.Id} ${one.State}`;
}

function shortly(body: unknown): string {
  return body === '' || body === null ? '' : ` ${JSON.stringify(body).slice(0, 60)}`;
}
