import type { Card, Ecc } from './machine.js';
import type { CardModel } from './words.js';

/** A healthy, idle card of a model. Its UUID and bus id follow from `index`, so two calls with the same index give the same card. */
export function healthyCard(model: CardModel, index: number): Card {
  return { ...structuredClone(MODELS[model]), uuid: uuidOf(index), bus_id: busIdOf(index) };
}

/** The values of an idle card of a model. */
type Model = Omit<Card, 'uuid' | 'bus_id'>;

const NO_ERRORS: Ecc = {
  enabled: true,
  corrected_volatile: 0,
  corrected_aggregate: 0,
  uncorrected_volatile: 0,
  uncorrected_aggregate: 0,
  uncorrected_volatile_sram: 0,
};

const DATA_CENTRE: Model = {
  name: 'NVIDIA H100 80GB HBM3',
  serial: '1650000000000',
  memory_total_mib: 81559,
  memory_reserved_mib: 551,
  memory_used_mib: 0,
  processes: [],
  utilization_percent: 0,
  utilization_memory_percent: 0,
  temperature_c: 31,
  temperature_memory_c: 35,
  power_draw_w: 71.23,
  power_limit_w: 700,
  pstate: 'P0',
  fan_percent: null,
  persistence_mode: true,
  compute_mode: 'Default',
  compute_cap: '9.0',
  ecc: NO_ERRORS,
  retired_pages: null,
  remapped_rows: { correctable: 0, uncorrectable: 0, pending: false, failure: false },
  clock_reasons: ['gpu_idle'],
  mig: { enabled: false, devices: [] },
  gsp: true,
  fabric: { state: 'Completed', status: 'Success' },
  reset_required: false,
  drain_and_reset_recommended: false,
  recovery_action: 'None',
  display_active: false,
  columns: {},
  fault: null,
};

const VOLTA: Model = {
  ...DATA_CENTRE,
  name: 'Tesla V100-SXM2-32GB',
  memory_total_mib: 32768,
  memory_reserved_mib: 267,
  temperature_c: 33,
  temperature_memory_c: 37,
  power_draw_w: 42.11,
  power_limit_w: 300,
  compute_cap: '7.0',
  retired_pages: { sbe: 0, dbe: 0, pending: false },
  remapped_rows: null,
  mig: null,
  gsp: false,
  fabric: null,
};

const GEFORCE: Model = {
  ...DATA_CENTRE,
  name: 'NVIDIA GeForce RTX 3090',
  serial: null,
  memory_total_mib: 24576,
  memory_reserved_mib: 318,
  memory_used_mib: 1,
  temperature_c: 41,
  temperature_memory_c: null,
  power_draw_w: 21.54,
  power_limit_w: 350,
  pstate: 'P8',
  fan_percent: 30,
  persistence_mode: false,
  compute_cap: '8.6',
  ecc: null,
  remapped_rows: null,
  mig: null,
  gsp: false,
  fabric: null,
  drain_and_reset_recommended: null,
};

const MODELS: Readonly<Record<CardModel, Model>> = {
  H100: DATA_CENTRE,
  H200: { ...DATA_CENTRE, name: 'NVIDIA H200', memory_total_mib: 143771, memory_reserved_mib: 608 },
  A100: {
    ...DATA_CENTRE,
    name: 'NVIDIA A100-SXM4-80GB',
    memory_total_mib: 81920,
    memory_reserved_mib: 617,
    power_draw_w: 61.5,
    power_limit_w: 400,
    compute_cap: '8.0',
    fabric: null,
  },
  L40S: {
    ...DATA_CENTRE,
    name: 'NVIDIA L40S',
    memory_total_mib: 46068,
    memory_reserved_mib: 601,
    temperature_memory_c: null,
    power_draw_w: 32.5,
    power_limit_w: 350,
    pstate: 'P8',
    compute_cap: '8.9',
    mig: null,
    fabric: null,
  },
  V100: VOLTA,
  T4: {
    ...VOLTA,
    name: 'Tesla T4',
    memory_total_mib: 15360,
    temperature_memory_c: null,
    power_draw_w: 9.01,
    power_limit_w: 70,
    compute_cap: '7.5',
  },
  'RTX 3090': GEFORCE,
  'RTX 4090': {
    ...GEFORCE,
    name: 'NVIDIA GeForce RTX 4090',
    memory_total_mib: 24564,
    ecc: { ...NO_ERRORS, enabled: false },
    power_limit_w: 450,
    compute_cap: '8.9',
  },
  GB10: {
    ...GEFORCE,
    name: 'NVIDIA GB10',
    memory_total_mib: null,
    fan_percent: null,
    power_limit_w: null,
    compute_cap: '12.1',
  },
};

const BUSES = ['1B', '29', '45', '4E', '9B', 'A8', 'C5', 'D2'];

function busIdOf(index: number): string {
  const domain = Math.floor(index / BUSES.length);
  return `${domain.toString(16).toUpperCase().padStart(8, '0')}:${BUSES[index % BUSES.length]}:00.0`;
}

function uuidOf(index: number): string {
  return `GPU-${(0xca2d0000 + index).toString(16)}-5eed-4a11-8bed-${index.toString(16).padStart(12, '0')}`;
}
