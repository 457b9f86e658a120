import { errorWords } from '../../text/error-words.js';
import { healthyMachine } from './build-machine.js';
import { healthyCard } from './card-models.js';
import type { Card, CardFault, CardProcess, Hang, Machine, RawAnswer } from './machine.js';
import {
  BadDescription,
  amount,
  byKind,
  flag,
  listOf,
  mapOf,
  object,
  objectAt,
  oneOf,
  someOf,
  orNull,
  text,
  whole,
  type Reader,
} from './reader.js';
import { CARD_ERRORS, CARD_MODELS, CLOCK_REASONS, MACHINE_FAULTS, QUERY_KINDS } from './words.js';

/**
 * Parses a description (JSON text). Only `driver` and `cards` are required; a card may be as short as `{}` or `{"model":
 * "A100"}`. Throws a `BadDescription` that names the key, what was expected and what came.
 */
export function readMachine(json: string): Machine {
  const given = objectAt(parsed(json), 'machine');
  if (!Array.isArray(given['cards'])) throw new BadDescription('machine.cards', 'a list', given['cards']);
  const wish = { cards: given['cards'].length, driver: driver(given['driver'], 'machine.driver') };
  const { cards: _cards, driver: _driver, ...otherwise } = healthyMachine(wish);
  return machine(given, 'machine', otherwise as Machine);
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw new BadDescription('machine', `JSON (${errorWords(cause)})`, json.slice(0, 40));
  }
}

const driver: Reader<string> = (value, at) => {
  const version = text(value, at);
  const branch = /^(\d{3})\.\d+(\.\d+)?$/.exec(version)?.[1];
  if (branch === undefined || Number(branch) < 418)
    throw new BadDescription(at, 'a driver version from 418 on, as in "590.48.01"', value);
  return version;
};

const process: Reader<CardProcess> = object<CardProcess>({ pid: whole, name: text, memory_mib: orNull(amount) });

const cardFault: Reader<CardFault> = byKind<CardFault>({
  handle: object({ kind: oneOf(['handle']), error: oneOf(CARD_ERRORS) }),
  queries: object({ kind: oneOf(['queries']), which: oneOf(['all', 'dynamic'] as const), error: oneOf(CARD_ERRORS) }),
  gone: object({ kind: oneOf(['gone']) }),
});

const cardKeys: Reader<Card> = object<Card>({
  uuid: text,
  name: text,
  bus_id: busId,
  serial: orNull(text),
  memory_total_mib: orNull(amount),
  memory_reserved_mib: amount,
  memory_used_mib: amount,
  processes: listOf(process),
  utilization_percent: orNull(whole),
  utilization_memory_percent: orNull(whole),
  temperature_c: orNull(whole),
  temperature_memory_c: orNull(whole),
  power_draw_w: orNull(amount),
  power_limit_w: orNull(amount),
  pstate: text,
  fan_percent: orNull(whole),
  persistence_mode: flag,
  compute_mode: text,
  compute_cap: text,
  ecc: orNull(
    object({
      enabled: flag,
      corrected_volatile: whole,
      corrected_aggregate: whole,
      uncorrected_volatile: whole,
      uncorrected_aggregate: whole,
      uncorrected_volatile_sram: whole,
    }),
  ),
  retired_pages: orNull(object({ sbe: whole, dbe: whole, pending: flag })),
  remapped_rows: orNull(object({ correctable: whole, uncorrectable: whole, pending: flag, failure: flag })),
  clock_reasons: orNull(listOf(oneOf(CLOCK_REASONS))),
  mig: orNull(object({ enabled: flag, devices: listOf(object({ profile: text, uuid: text })) })),
  gsp: orNull(flag),
  fabric: orNull(object({ state: text, status: text })),
  reset_required: orNull(flag),
  drain_and_reset_recommended: orNull(flag),
  recovery_action: text,
  display_active: flag,
  columns: mapOf(text),
  fault: orNull(cardFault),
});

/** A card, with its model's values for everything not given. */
const card: Reader<Card> = (value, at) => {
  const { model, ...said } = objectAt(value, at);
  const index = Number(/\[(\d+)\]$/.exec(at)?.[1]);
  return cardKeys(said, at, healthyCard(oneOf(CARD_MODELS)(model, `${at}.model`, 'H100'), index));
};

const hang: Reader<Hang> = (value, at) => {
  const { at: place, ...kinds } = objectAt(value, at);
  const rest = object<Pick<Hang, 'kinds'>>({ kinds: optional(listOf(oneOf(QUERY_KINDS))) })(kinds, at);
  return { at: place === 'init' ? place : whole(place, `${at}.at`), ...rest };
};

const delay: Reader<Machine['delay_ms']> = (value, at, otherwise) =>
  typeof value === 'object' ? someOf(QUERY_KINDS, amount)(value, at) : amount(value, at, Number(otherwise));

const rawAnswer: Reader<RawAnswer> = byKind<RawAnswer>({
  verbatim: object({ kind: oneOf(['verbatim']), stdout: text, rc: whole }),
  cut: object({ kind: oneOf(['cut']), rows: whole, end: text, rc: whole }),
});

const machine: Reader<Machine> = object<Machine>({
  driver,
  cuda: text,
  cards: listOf(card),
  fault: orNull(oneOf(MACHINE_FAULTS)),
  delay_ms: delay,
  hang: orNull(hang),
  process_list: oneOf(['visible', 'invisible', 'not_supported']),
  topology: orNull(listOf(listOf(text))),
  raw: someOf(QUERY_KINDS, rawAnswer),
});

function busId(value: unknown, at: string, otherwise?: string): string {
  const id = text(value, at, otherwise);
  if (!/^[\dA-Fa-f]{8}:[\dA-Fa-f]{2}:[\dA-Fa-f]{2}\.\d$/.test(id)) {
    throw new BadDescription(at, 'a bus id as in "00000000:4E:00.0"', value);
  }
  return id;
}

function optional<T>(read: Reader<T>): Reader<T | undefined> {
  return (value, at) => (value === undefined ? undefined : read(value, at));
}
