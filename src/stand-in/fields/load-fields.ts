import { type Field, type Seen, fixed, reading } from './field.js';

const inMib = { unit: 'MiB' } as const;
const inPercent = { unit: '%' } as const;
const inWatts = { unit: 'W', digits: 2 } as const;
const inMhz = { unit: 'MHz' } as const;

/** The fields about a card's load: memory, utilisation, temperature, power, clocks. */
export const LOAD_FIELDS: readonly Field[] = [
  reading('fan.speed', ({ card }) => card.fan_percent, inPercent),
  reading('pstate', ({ card }) => card.pstate),
  reading('memory.total', totalMib, inMib),
  reading('memory.reserved', reservedMib, { ...inMib, from: 510 }),
  reading('memory.used', usedMib, inMib),
  reading('memory.free', freeMib, inMib),
  reading('utilization.gpu', ({ card }) => undivided(card.mig, card.utilization_percent), inPercent),
  reading('utilization.memory', ({ card }) => undivided(card.mig, card.utilization_memory_percent), inPercent),
  reading('utilization.encoder', ({ card }) => undivided(card.mig, 0), inPercent),
  reading('utilization.decoder', ({ card }) => undivided(card.mig, 0), inPercent),
  reading('encoder.stats.sessionCount', () => 0),
  reading('encoder.stats.averageFps', () => 0),
  reading('encoder.stats.averageLatency', () => 0),
  reading('temperature.gpu', ({ card }) => card.temperature_c),
  reading(
    'temperature.gpu.tlimit',
    ({ card }) => (card.ecc === null || card.temperature_c === null ? null : 87 - card.temperature_c),
    {
      from: 535,
    },
  ),
  reading('temperature.memory', ({ card }) => card.temperature_memory_c ?? 'N/A'),
  reading('power.draw', ({ card }) => card.power_draw_w, inWatts),
  reading('power.draw.average or gpu.power.draw.average', ({ card }) => card.power_draw_w, { ...inWatts, from: 535 }),
  reading('power.draw.instant or gpu.power.draw.instant', ({ card }) => card.power_draw_w, { ...inWatts, from: 535 }),
  fixed('power.limit or gpu.power.requested_limit', ({ card }) => card.power_limit_w, inWatts),
  fixed('enforced.power.limit or gpu.power.current_limit', ({ card }) => card.power_limit_w, inWatts),
  fixed('power.default_limit or gpu.power.default_limit', ({ card }) => card.power_limit_w, inWatts),
  fixed('power.min_limit or gpu.power.min_limit', () => null, inWatts),
  fixed('power.max_limit or gpu.power.max_limit', ({ card }) => card.power_limit_w, inWatts),
  reading('clocks.current.graphics or clocks.gr', () => null, inMhz),
  reading('clocks.current.sm or clocks.sm', () => null, inMhz),
  reading('clocks.current.memory or clocks.mem', () => null, inMhz),
  reading('clocks.current.video or clocks.video', () => null, inMhz),
  fixed('clocks.max.graphics or clocks.max.gr', () => null, inMhz),
  fixed('clocks.max.sm', () => null, inMhz),
  fixed('clocks.max.memory or clocks.max.mem', () => null, inMhz),
];

function totalMib({ card, dialect }: Seen): number | null {
  if (card.memory_total_mib === null) return null;
  return dialect.toMib(
    dialect.countsReserved ? card.memory_total_mib : card.memory_total_mib - card.memory_reserved_mib,
  );
}

function reservedMib({ card, dialect }: Seen): number | null {
  return card.memory_total_mib === null ? null : dialect.toMib(card.memory_reserved_mib);
}

function usedMib({ card, dialect }: Seen): number | null {
  return card.memory_total_mib === null ? null : dialect.toMib(card.memory_used_mib);
}

/** Rounded by itself, so that total, used and free need not add up; old branches print the difference of the other two. */
function freeMib(seen: Seen): number | null {
  const { card, dialect } = seen;
  if (card.memory_total_mib === null) return null;
  if (!dialect.countsReserved) return Number(totalMib(seen)) - Number(usedMib(seen));
  return dialect.toMib(card.memory_total_mib - card.memory_reserved_mib - card.memory_used_mib);
}

/** A card with MIG has no utilisation of its own. */
function undivided(mig: Seen['card']['mig'], percent: number | null): number | null {
  return mig?.enabled === true ? null : percent;
}
