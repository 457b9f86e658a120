/** What the query of a run's routes may say. Pure. */

import type { Problem } from '../http/problem.js';
import type { Run } from '../model/admission.js';
import type { RunFilter } from '../model/ports/admissions.js';
import type { OutputWanted } from '../model/ports/books.js';
import { CONTAINER_STATES } from '../model/snapshot.js';

type Query = Readonly<Record<string, unknown>>;

export const RUN_STATES: readonly Run['state'][] = [...CONTAINER_STATES, 'start_failed', 'waiting'];
export const MOST_RUNS = 10_000;
export const MOST_LINES = 1_000_000;

/** `?state=&principal=&limit=` */
export function readFilter({ state, principal, limit }: Query): RunFilter | Problem {
  const wanted = RUN_STATES.find((each) => each === state);
  if (state !== undefined && wanted === undefined) return wrong('state', `one of ${RUN_STATES.join(', ')}`, state);
  if (principal !== undefined && (typeof principal !== 'string' || principal === '')) {
    return wrong('principal', 'a name', principal);
  }
  const most = limit === undefined ? undefined : whole(limit, MOST_RUNS);
  if (most === null || most === 0) return wrong('limit', `a whole number from 1 to ${MOST_RUNS}`, limit);
  return {
    ...(wanted === undefined ? {} : { state: wanted }),
    ...(principal === undefined ? {} : { principal }),
    ...(most === undefined ? {} : { limit: most }),
  };
}

/** `?follow=&tail=&stderr=` */
export function readOutputWanted({ follow, tail, stderr }: Query): OutputWanted | Problem {
  for (const [name, value] of Object.entries({ follow, stderr })) {
    if (value !== undefined && value !== 'true' && value !== 'false') return wrong(name, 'true or false', value);
  }
  const lines = tail === undefined || tail === 'all' ? undefined : whole(tail, MOST_LINES);
  if (lines === null) return wrong('tail', `a whole number of lines up to ${MOST_LINES}, or all`, tail);
  return { follow: follow === 'true', stderr: stderr !== 'false', tail: lines ?? null };
}

function whole(text: unknown, most: number): number | null {
  const number = typeof text === 'string' && /^\d{1,9}$/.test(text) ? Number(text) : null;
  return number === null || number > most ? null : number;
}

function wrong(name: string, expected: string, came: unknown): Problem {
  const detail = `expected ${expected}; got ${JSON.stringify(came)?.slice(0, 60)}`;
  return { code: 'invalid_request', detail: `?${name}: ${detail}`, errors: [{ pointer: `?${name}`, detail }] };
}
