import { cardAt, healthyMachine, putLoad } from '../../src/stand-in/machine/build-machine.js';
import type { CardFault, Machine } from '../../src/stand-in/machine/machine.js';
import type { CardModel, ClockReason, MachineFault } from '../../src/stand-in/machine/words.js';

/** The machine on which the real program was captured in a scenario; null for an unknown scenario. */
export function machineOf(scenario: string, driver: string): Machine | null {
  const change = SCENARIOS[scenario];
  if (change === undefined) return null;
  const machine = eight(Number.parseInt(driver, 10) < 500 ? 'A100' : 'H100', driver);
  change(machine);
  return machine;
}

/** The names of all scenarios. */
export function scenarioNames(): string[] {
  return Object.keys(SCENARIOS);
}

type Change = (machine: Machine) => void;

const SCENARIOS: Readonly<Record<string, Change>> = {
  _cli: nothing,
  '_real-library-no-driver': machineFault('driver_not_loaded'),
  '_no-library': machineFault('no_library'),
  'healthy-idle-8': nothing,
  'healthy-v100': (machine) => replaceCards(machine, 'V100', 8),
  'healthy-t4': (machine) => replaceCards(machine, 'T4', 4),
  'busy-processes-8': busy,
  'container-processes-invisible': (machine) => {
    machine.process_list = 'invisible';
    putLoad(cardAt(machine, 0), 70321);
    Object.assign(cardAt(machine, 0), { utilization_percent: 100, utilization_memory_percent: 100 });
    putLoad(cardAt(machine, 3), 9981);
  },
  'memory-thresholds': (machine) => {
    const byte = 1 / 1024 / 1024;
    const used = [0, 3, 512 - byte, 511 + byte, 512, 512 + byte, 513, 30000];
    used.forEach((mib, index) => putLoad(cardAt(machine, index), mib));
  },
  'compute-apps-not-supported': (machine) => {
    machine.process_list = 'not_supported';
    for (const card of machine.cards) putLoad(card, 900);
  },
  'ecc-uncorrected': (machine) => {
    errors(machine, 2, { uncorrected_volatile: 3, uncorrected_aggregate: 7 });
    errors(machine, 5, { corrected_volatile: 12 });
  },
  'retired-pages-pending-v100': (machine) => {
    replaceCards(machine, 'V100', 8);
    errors(machine, 1, { uncorrected_volatile: 1, uncorrected_aggregate: 1 });
    cardAt(machine, 1).retired_pages = { sbe: 0, dbe: 1, pending: true };
    cardAt(machine, 4).retired_pages = { sbe: 2, dbe: 1, pending: false };
  },
  'remapped-rows-pending': (machine) => {
    replaceCards(machine, 'A100', 8);
    errors(machine, 1, { uncorrected_volatile: 1, uncorrected_aggregate: 1 });
    cardAt(machine, 1).remapped_rows = { correctable: 0, uncorrectable: 1, pending: true, failure: false };
    cardAt(machine, 4).remapped_rows = { correctable: 2, uncorrectable: 1, pending: false, failure: false };
  },
  slowdowns,
  'reset-required-field': (machine) => {
    cardAt(machine, 2).reset_required = true;
    cardAt(machine, 3).drain_and_reset_recommended = true;
    Object.assign(cardAt(machine, 4), { reset_required: null, drain_and_reset_recommended: null });
    cardAt(machine, 5).columns = {
      'reset_status.reset_required': '[GPU is lost]',
      'reset_status.drain_and_reset_recommended': '[GPU is lost]',
    };
  },
  'mig-enabled': divided,
  'geforce-2': (machine) => {
    replaceCards(machine, 'RTX 3090', 2);
    putLoad(cardAt(machine, 0), 310);
    putLoad(cardAt(machine, 1), 18700, { pid: 9921, name: 'python3', memory_mib: 18600 });
    Object.assign(cardAt(machine, 1), { utilization_percent: 87, utilization_memory_percent: 87, temperature_c: 71 });
  },
  'geforce-gt730-old': (machine) => {
    replaceCards(machine, 'RTX 3090', 1);
    const unknown = {
      utilization_percent: null,
      utilization_memory_percent: null,
      power_draw_w: null,
      power_limit_w: null,
    };
    const memory = { memory_total_mib: 2048, memory_reserved_mib: 0, memory_used_mib: 1 };
    Object.assign(cardAt(machine, 0), {
      ...unknown,
      ...memory,
      name: 'NVIDIA GeForce GT 730',
      temperature_c: 45,
      clock_reasons: null,
    });
  },
  'geforce-rtx4090-ecc-off': (machine) => replaceCards(machine, 'RTX 4090', 2),
  'gpu3-handle-lost': card3({ kind: 'handle', error: 'lost' }),
  'gpu3-handle-reset-required': card3({ kind: 'handle', error: 'reset_required' }),
  'gpu3-handle-unknown-error': card3({ kind: 'handle', error: 'unknown' }),
  'gpu3-handle-access-blocked': card3({ kind: 'handle', error: 'access_blocked' }),
  'gpu3-handle-no-permission': card3({ kind: 'handle', error: 'no_permission' }),
  'gpu3-handle-insufficient-power': card3({ kind: 'handle', error: 'insufficient_power' }),
  'gpu3-every-query-lost': card3({ kind: 'queries', which: 'all', error: 'lost' }),
  'gpu3-every-query-reset-required': card3({ kind: 'queries', which: 'all', error: 'reset_required' }),
  'gpu3-every-query-unknown-error': card3({ kind: 'queries', which: 'all', error: 'unknown' }),
  'gpu3-dynamic-queries-lost': card3({ kind: 'queries', which: 'dynamic', error: 'lost' }),
  'gpu3-dynamic-queries-unknown-error': card3({ kind: 'queries', which: 'dynamic', error: 'unknown' }),
  'gpu3-gone-from-bus-7-left': card3({ kind: 'gone' }),
  'inforom-corrupted': machineFault('inforom_corrupted'),
  'no-devices': machineFault('no_devices'),
  'driver-not-loaded': machineFault('driver_not_loaded'),
  'library-version-mismatch': machineFault('library_mismatch'),
  'init-unknown-error': machineFault('init_unknown_error'),
  'init-gpu-lost': machineFault('init_gpu_lost'),
  'init-access-blocked': machineFault('init_access_blocked'),
  'hang-in-init': (machine) => {
    machine.hang = { at: 'init' };
  },
  'hang-on-gpu3': (machine) => {
    machine.hang = { at: 3 };
  },
};

const UUIDS = [
  'GPU-5a5fbd25-1c5e-4d32-96b1-7dd6d9d4b2a1',
  'GPU-8e2f9a36-0b7a-46f4-b8e2-2f1f3a6f5c02',
  'GPU-c1d4e5f6-3a2b-4c9d-8e7f-102938475603',
  'GPU-0f9e8d7c-6b5a-4e3d-9c2b-5647382910a4',
  'GPU-73ab12cd-9f8e-4d6c-b5a4-938271605f05',
  'GPU-2468ace0-1357-49bd-8fec-0a1b2c3d4e06',
  'GPU-deadc0de-7777-4bad-9cab-1029384756a7',
  'GPU-fe12dc34-ba56-4798-a0b1-c2d3e4f5a608',
];

function eight(model: CardModel, driver: string, cards = 8): Machine {
  const machine = healthyMachine({ cards, driver, model });
  machine.cards.forEach((card, index) => (card.uuid = UUIDS[index] ?? card.uuid));
  return machine;
}

function replaceCards(machine: Machine, model: CardModel, cards: number): void {
  machine.cards = eight(model, machine.driver, cards).cards;
}

function nothing(): void {
  // The machine stays as built.
}

function machineFault(fault: MachineFault): Change {
  return (machine) => {
    machine.fault = fault;
  };
}

function card3(fault: CardFault): Change {
  return (machine) => {
    cardAt(machine, 3).fault = fault;
  };
}

function errors(machine: Machine, index: number, counted: object): void {
  Object.assign(cardAt(machine, index).ecc ?? {}, counted);
}

function busy(machine: Machine): void {
  const [first, second, third] = [cardAt(machine, 0), cardAt(machine, 1), cardAt(machine, 5)];
  putLoad(first, 70321, { pid: 28411, name: '/opt/venv/bin/python3', memory_mib: 70317 });
  putLoad(
    second,
    20514,
    { pid: 31277, name: 'python', memory_mib: 12000 },
    { pid: 31278, name: 'tritonserver', memory_mib: 8510 },
  );
  putLoad(third, 1250, { pid: 40021, name: '/usr/local/bin/ollama', memory_mib: 1246 });
  heat(machine, 0, 100, 67, []);
  heat(machine, 1, 37, 48, []);
  heat(machine, 5, 0, 36, []);
  first.power_draw_w = machine.driver.startsWith('4') ? 287 : 612.34;
  second.power_draw_w = 240.1;
}

function slowdowns(machine: Machine): void {
  heat(machine, 0, 100, 88, ['hw_slowdown']);
  heat(machine, 1, 100, 88, ['hw_slowdown', 'hw_thermal_slowdown']);
  heat(machine, 2, 100, 60, ['hw_slowdown', 'hw_power_brake_slowdown']);
  heat(machine, 3, 100, 60, ['sw_power_cap']);
  heat(machine, 4, 100, 60, ['sw_thermal_slowdown']);
  heat(machine, 5, 100, 60, []);
  heat(machine, 6, 0, 60, ['gpu_idle']);
  heat(machine, 7, 100, 88, ['hw_slowdown', 'sw_thermal_slowdown', 'hw_thermal_slowdown']);
}

function heat(machine: Machine, index: number, percent: number, celsius: number, clock_reasons: ClockReason[]): void {
  Object.assign(cardAt(machine, index), {
    utilization_percent: percent,
    utilization_memory_percent: percent,
    temperature_c: celsius,
    temperature_memory_c: celsius + 4,
    clock_reasons,
  });
}

function divided(machine: Machine): void {
  replaceCards(machine, 'A100', 3);
  putLoad(
    cardAt(machine, 0),
    14500,
    { pid: 51200, name: 'python3', memory_mib: 12380 },
    { pid: 51377, name: '/usr/bin/jupyter', memory_mib: 2040 },
  );
  const devices = [
    { profile: '3g.40gb', uuid: 'MIG-a1b20001-5c1e-5d32-96b1-7dd6d9d4b2a1' },
    { profile: '2g.20gb', uuid: 'MIG-a1b20005-5c1e-5d32-96b1-7dd6d9d4b2a1' },
    { profile: '1g.10gb', uuid: 'MIG-a1b2000d-5c1e-5d32-96b1-7dd6d9d4b2a1' },
  ];
  cardAt(machine, 0).mig = { enabled: true, devices };
  cardAt(machine, 2).mig = { enabled: true, devices: [] };
}
