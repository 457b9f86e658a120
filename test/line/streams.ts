/** Days of jobs on one machine, by seed: what the line gives to whom, how long they wait, and what a reservation costs. */

import { walkLine } from '../../src/line/walk.js';
import type { GrantedCard } from '../../src/model/admission.js';
import type { Wanted } from '../../src/model/line.js';
import type { Occupancy } from '../../src/model/occupancy.js';
import { dice } from '../soak/random.js';
import { machine } from './machine.js';

/** All times are in minutes. */
export interface Stream {
  readonly seed: number;
  readonly days: number;
  /** One letter a card, as for `machine`, before the first job: `f` or what takes a card out for good. */
  readonly cards: string;
  /** Share of all cards that the jobs would use, big ones included. */
  readonly load: number;
  /** One-card jobs of 20 to 120 minutes arrive besides. */
  readonly big: { readonly count: number; readonly every: number; readonly length: number };
  /** Null: no reservation. */
  readonly reserveAfter: number | null;
}

/** Eight cards, and one job for all of them every six hours: the mix of the README's two sentences. */
export const EIGHT_CARDS: Stream = {
  seed: 1,
  days: 200,
  cards: 'ffffffff',
  load: 0.7,
  big: { count: 8, every: 360, length: 60 },
  reserveAfter: 10,
};

export interface Told {
  readonly waits: { readonly small: readonly number[]; readonly big: readonly number[] };
  /** Big jobs that still wait at the end. */
  readonly bigInLine: number;
  /** Card-minutes that jobs used, and that free cards were reserved, of `cards` × `minutes`. */
  readonly used: number;
  readonly reserved: number;
  readonly minutes: number;
  /**
   * Big and small jobs that started later than the bound: at the latest when the longest job that ran at the moment at which
   * they had the reservation, and nobody waited longer, had ended.
   */
  readonly beyondBound: readonly string[];
  /** How many had the reservation and started. */
  readonly reservations: number;
}

interface Job {
  readonly id: string;
  readonly count: number;
  readonly length: number;
  readonly since: number;
}

interface Running {
  readonly endsAt: number;
  readonly cards: readonly number[];
}

const SMALLEST = 20;
const LONGEST = 120;
const DAY = 1440;

export function runStream(stream: Stream): Told {
  const chances = dice(stream.seed);
  const exponential = (mean: number): number => -Math.log(1 - chances.next()) * mean;
  const { big } = stream;
  const total = stream.cards.length;
  const bigLoad = (big.count * big.length) / (big.every * total);
  const betweenSmall = (SMALLEST + LONGEST) / 2 / Math.max(0.01, (stream.load - bigLoad) * total);

  const end = stream.days * DAY;
  const line: Job[] = [];
  const running = new Set<Running>();
  const bounds = new Map<string, number>();
  const beyondBound: string[] = [];
  const waits = { small: [] as number[], big: [] as number[] };
  let letters = stream.cards;
  let [now, used, reserved, reservations, jobs] = [0, 0, 0, 0, 0];
  let keeps = 0;
  let nextSmall = exponential(betweenSmall);
  let nextBig = exponential(big.every);

  const arrive = (count: number, length: number): void =>
    void line.push({ id: `${count}-${jobs++}`, count, length, since: now });

  function advance(): void {
    const nextEnd = Math.min(...Array.from(running, ({ endsAt }) => endsAt));
    // The moment at which the oldest has waited long enough is one too: from then on cards are kept for it.
    const oldest = line[0];
    const overdue =
      oldest === undefined || stream.reserveAfter === null ? Infinity : oldest.since + stream.reserveAfter;
    const next = Math.min(nextSmall, nextBig, nextEnd, overdue > now ? overdue : Infinity);
    used += Array.from(letters).filter((letter) => letter === 'j').length * (next - now);
    reserved += keeps * (next - now);
    now = next;
  }

  function decide(): void {
    const wanted = line.map(({ id, count, since }): Wanted => {
      return { runId: id, count, waitedMs: (now - since) * 60_000, imageHere: true, asks: true };
    });
    const reserveAfterMs = stream.reserveAfter === null ? null : stream.reserveAfter * 60_000;
    const walked = walkLine(wanted, occupancyOf(letters), { admitWhenBlind: false, reserveAfterMs });
    const reservedFor = walked.reservation?.runId ?? null;
    keeps = walked.reservation?.cards.length ?? 0;
    if (reservedFor !== null && reservedFor === line[0]?.id && !bounds.has(reservedFor)) {
      bounds.set(reservedFor, Math.max(...Array.from(running, ({ endsAt }) => endsAt)));
    }
    for (const [id, share] of walked.shares) {
      const at = line.findIndex((job) => job.id === id);
      if (share.kind === 'never') line.splice(at, 1);
      if (share.kind === 'gets') start(line.splice(at, 1)[0]!, indicesOf(share.cards));
    }
  }

  function start(job: Job, cards: readonly number[]): void {
    running.add({ endsAt: now + job.length, cards });
    letters = withLetter(letters, cards, 'j');
    waits[job.count === big.count ? 'big' : 'small'].push(now - job.since);
    const bound = bounds.get(job.id);
    if (bound === undefined) return;
    reservations += 1;
    if (now > bound) beyondBound.push(`${job.id} started at ${now}, and ${bound} was the bound`);
  }

  while (now < end) {
    advance();
    for (const job of running) {
      if (job.endsAt > now) continue;
      running.delete(job);
      letters = withLetter(letters, job.cards, 'f');
    }
    if (now === nextSmall) {
      arrive(1, SMALLEST + chances.next() * (LONGEST - SMALLEST));
      nextSmall = now + exponential(betweenSmall);
    }
    if (now === nextBig) {
      arrive(big.count, big.length);
      nextBig = now + exponential(big.every);
    }
    decide();
  }
  const bigInLine = line.filter(({ count }) => count === big.count).length;
  return { waits, bigInLine, used, reserved, minutes: now, beyondBound, reservations };
}

function indicesOf(cards: readonly GrantedCard[]): readonly number[] {
  return cards.flatMap(({ index }) => (index === null ? [] : [index]));
}

function withLetter(letters: string, cards: readonly number[], letter: string): string {
  return Array.from(letters, (was, at) => (cards.includes(at) ? letter : was)).join('');
}

const known = new Map<string, Occupancy>();

/** The same machine is judged once: a stream has thousands of moments, and few machines. */
function occupancyOf(letters: string): Occupancy {
  const occupancy = known.get(letters) ?? machine(letters);
  known.set(letters, occupancy);
  return occupancy;
}
