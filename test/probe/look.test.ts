import { describe, expect, test } from 'vitest';
import { cardIndex, cardUuid } from '../../src/model/card.js';
import type { Books } from '../../src/model/ports/books.js';
import type { CardStore } from '../../src/model/ports/card-store.js';
import type {
  ContainersSeen,
  Exclusion,
  GpusSeen,
  Probed,
  RememberedCard,
  Snapshot,
} from '../../src/model/snapshot.js';
import { createEyes, type EyesParts } from '../../src/probe/look.js';
import type { NvidiaSmi } from '../../src/probe/nvidia-smi/nvidia-smi.js';
import { parseGpuRows } from '../../src/probe/nvidia-smi/parse-gpu-rows.js';
import type { ParsedProcesses } from '../../src/probe/nvidia-smi/parse-processes.js';
import type { CardsSeen } from '../../src/probe/nvidia-smi/query-gpus.js';
import { recordingLog, movableClock, until } from './nvidia-smi/program.js';

const seen = <T>(value: T): Probed<T> & { kind: 'seen' } => ({ kind: 'seen', value, tookMs: 1 });
const blind = (why: 'exit' | 'timeout'): Probed<never> => ({
  kind: 'blind',
  why,
  detail: 'as the probe says',
  tookMs: 1,
});

function cardsSeen(...indices: number[]): Probed<GpusSeen> {
  const text = indices.map((index) => `${index}, GPU-${index}, 00000000:0${index}:00.0, H100`).join('\n');
  const { rows } = parseGpuRows(text, ['index', 'uuid', 'pci.bus_id', 'name']);
  return seen({ rows, broken: [], driverCount: indices.length, driverVersion: '590.1' });
}
const remembered = (index: number): RememberedCard => ({
  uuid: cardUuid(`GPU-${index}`),
  index: cardIndex(index),
  name: 'H100',
  pciBusId: `00000000:0${index}:00.0`,
});

/** Probes that answer when a test says so. */
function machine(change: Partial<EyesParts> = {}) {
  const clock = movableClock();
  const asked = { gpus: 0, processes: 0, docker: 0 };
  const gates: {
    gpus: Gate<CardsSeen>;
    processes: Gate<Probed<ParsedProcesses>>;
    docker: Gate<Probed<ContainersSeen>>;
  } = {
    gpus: gate({ gpus: cardsSeen(0, 1), health: seen(null) }),
    processes: gate<Probed<ParsedProcesses>>(seen({ processes: [], unreadable: 0, unlisted: [], remarks: [] })),
    docker: gate<Probed<ContainersSeen>>(seen({ containers: [] })),
  };
  const smi: NvidiaSmi = {
    gpus: async () => {
      asked.gpus += 1;
      return gates.gpus.pass();
    },
    processes: async () => {
      asked.processes += 1;
      return gates.processes.pass();
    },
    links: async () => new Map(),
  };
  const books: Pick<Books, 'list'> = {
    list: async () => {
      asked.docker += 1;
      return gates.docker.pass();
    },
  };
  const looks: Snapshot[] = [];
  const cardStore = fakeCardBook();
  const log = recordingLog();
  const eyes = createEyes({
    smi,
    books,
    cardStore,
    clock,
    log,
    checkExternal: true,
    checkHealth: true,
    limitMs: 5000,
    onLook: (snapshot) => looks.push(snapshot),
    ...change,
  });
  return { eyes, gates, asked, clock, looks, cardStore, log };
}

describe('a fresh look', () => {
  test('asks every part once and side by side, and is reported once', async () => {
    const { eyes, asked, gates, looks } = machine();
    gates.gpus.shut();
    gates.docker.shut();
    const look = eyes.fresh();
    await until('all were asked', () => asked.gpus + asked.processes + asked.docker === 3);
    gates.gpus.open();
    gates.docker.open();
    expect(looks).toEqual([await look]);
  });

  test('started after it was asked for: it waits for the one that runs, and all who wait share the next', async () => {
    const { eyes, gates, asked } = machine();
    gates.gpus.shut();
    const first = eyes.fresh();
    const waiting = [eyes.fresh(), eyes.fresh(), eyes.fresh()];
    await until('the first was asked', () => asked.gpus === 1);
    gates.gpus.open();
    const [one, two, three] = await Promise.all(waiting);
    expect(asked.gpus).toBe(2);
    expect(two).toBe(one);
    expect(three).toBe(one);
    expect(await first).not.toBe(one);
  });

  test('is never one that ended before, however young', async () => {
    const { eyes, asked } = machine();
    const one = await eyes.fresh();
    expect(await eyes.fresh()).not.toBe(one);
    expect(asked.gpus).toBe(2);
  });
});

describe('a recent look', () => {
  test('is the one that runs', async () => {
    const { eyes, gates, asked } = machine();
    gates.gpus.shut();
    const running = eyes.fresh();
    const scrapes = [eyes.recent(1000, 5000), eyes.recent(0, 5000)];
    gates.gpus.open();
    expect(await Promise.all(scrapes)).toEqual(Array(2).fill(await running));
    expect(asked.gpus).toBe(1);
  });

  test('is one that ended less than its age ago, and a new one after that', async () => {
    const { eyes, clock } = machine();
    const one = await eyes.fresh();
    expect(await eyes.recent(1000, 5000)).toBe(one);
    clock.forward(1001);
    expect(await eyes.recent(1000, 5000)).not.toBe(one);
  });

  test('does not wait for a part that is slow: that part is blind, the others are true, and the look goes on', async () => {
    const { eyes, gates, asked, looks } = machine();
    gates.gpus.shut();
    const scraped = await eyes.recent(1000, 50);
    expect(scraped).toMatchObject({
      gpus: { kind: 'blind', why: 'timeout' },
      health: { kind: 'blind', why: 'timeout' },
      processes: { kind: 'seen' },
      docker: { kind: 'seen' },
    });
    expect(looks).toEqual([]);
    const again = eyes.recent(1000, 5000);
    gates.gpus.open();
    expect(await again).toMatchObject({ gpus: { kind: 'seen' } });
    expect(asked.gpus).toBe(1);
    expect(looks).toEqual([await again]);
  });

  test('that outlasts its caller shows the last finished one meanwhile, at most a minute old: slow is not blind', async () => {
    const { eyes, gates, clock, asked } = machine();
    const one = await eyes.fresh();
    gates.gpus.shut();
    clock.forward(59_000);
    expect(await eyes.recent(1000, 20)).toBe(one);
    expect(asked.gpus).toBe(2);
    clock.forward(1001);
    expect(await eyes.recent(1000, 20)).toMatchObject({ gpus: { kind: 'blind', why: 'timeout' } });
    gates.gpus.open();
  });

  test('that outlasts its caller does not show the last one where the gate changed something since', async () => {
    const { eyes, gates } = machine();
    await eyes.fresh();
    eyes.outdated();
    gates.gpus.shut();
    expect(await eyes.recent(1000, 20)).toMatchObject({ gpus: { kind: 'blind', why: 'timeout' } });
    gates.gpus.open();
  });

  test('that is past its own limit is blind, whatever was seen before', async () => {
    const { eyes, gates } = machine({ limitMs: 30 });
    await eyes.fresh();
    gates.gpus.shut();
    expect(await eyes.recent(0, 5000)).toMatchObject({ gpus: { kind: 'blind', why: 'timeout' } });
    gates.gpus.open();
  });

  test('that started before the gate changed something is not used again, however young', async () => {
    const { eyes, asked } = machine();
    const before = await eyes.fresh();
    eyes.outdated();
    expect(await eyes.recent(60_000, 5000)).not.toBe(before);
    expect(asked.gpus).toBe(2);
    await eyes.recent(60_000, 5000);
    expect(asked.gpus).toBe(2);
  });

  test('is not the one that runs when that started before a change: it waits for the end and looks anew', async () => {
    const { eyes, gates, asked } = machine();
    gates.gpus.shut();
    const running = eyes.fresh();
    eyes.outdated();
    const scrapes = [eyes.recent(1000, 5000), eyes.recent(1000, 5000)];
    await until('the first was asked', () => asked.gpus === 1);
    gates.gpus.open();
    const [one, two] = await Promise.all(scrapes);
    expect(one).not.toBe(await running);
    expect(two).toBe(one);
    expect(asked.gpus).toBe(2);
  });

  test('that was cut short is not kept for the next', async () => {
    const { eyes, gates } = machine();
    gates.docker.shut();
    const cut = await eyes.recent(60_000, 20);
    gates.docker.open();
    const whole = await eyes.fresh();
    expect(cut.docker.kind).toBe('blind');
    expect((await eyes.recent(60_000, 20)).docker.kind).toBe('seen');
    expect(await eyes.recent(60_000, 20)).toBe(whole);
  });
});

describe('what is switched off', () => {
  test('is not asked', async () => {
    const { eyes, asked } = machine({ checkExternal: false });
    expect((await eyes.fresh()).processes).toEqual({ kind: 'off' });
    expect(asked.processes).toBe(0);
  });
  test('stays off while the cards are still being asked', async () => {
    const { eyes, gates } = machine({ checkHealth: false, checkExternal: false });
    gates.gpus.shut();
    expect(await eyes.recent(0, 20)).toMatchObject({
      gpus: { kind: 'blind' },
      health: { kind: 'off' },
      processes: { kind: 'off' },
    });
    gates.gpus.open();
  });
});

describe('a part that cannot see', () => {
  test('leaves the others to be seen', async () => {
    const { eyes, gates } = machine();
    gates.docker.answer = blind('exit');
    expect(await eyes.fresh()).toMatchObject({ docker: { kind: 'blind', why: 'exit' }, gpus: { kind: 'seen' } });
  });

  test('and breaks its word by throwing is blind, and the look is whole', async () => {
    const { eyes, gates, log } = machine();
    gates.docker.fault = new Error('a bug');
    gates.gpus.fault = new Error('another');
    expect(await eyes.fresh()).toMatchObject({
      docker: { kind: 'blind', why: 'unavailable', detail: 'the probe failed: Error: a bug' },
      gpus: { kind: 'blind', why: 'unavailable' },
      health: { kind: 'blind', why: 'unavailable' },
      processes: { kind: 'seen' },
    });
    expect(log.sentences).toHaveLength(2);
  });

  test('and never answers ends with the look, and a list that still hangs is not joined by another', async () => {
    const { eyes, gates, asked } = machine({ limitMs: 60 });
    gates.docker.shut();
    expect((await eyes.fresh()).docker).toMatchObject({ kind: 'blind', why: 'timeout' });
    expect((await eyes.fresh()).docker).toMatchObject({ kind: 'blind', why: 'overlap' });
    expect(asked.docker).toBe(1);
    gates.docker.open();
    await until('docker again', async () => (await eyes.fresh()).docker.kind === 'seen');
  });

  test('of all cards has no process list, though it was answered', async () => {
    const { eyes, gates } = machine();
    gates.processes.answer = seen({ processes: [], unreadable: 2, unlisted: [], remarks: [] });
    expect((await eyes.fresh()).processes).toMatchObject({ kind: 'blind', why: 'unavailable' });
  });

  test('of one card of two has a list of the other', async () => {
    const { eyes, gates } = machine();
    gates.processes.answer = seen({ processes: [], unreadable: 1, unlisted: [], remarks: [] });
    expect((await eyes.fresh()).processes).toEqual(seen([]));
  });
});

describe('the books of cards', () => {
  test('are written after a look, and the snapshot shows them', async () => {
    const { eyes, cardStore } = machine();
    const snapshot = await eyes.fresh();
    expect(snapshot.remembered).toEqual([remembered(0), remembered(1)]);
    expect(cardStore.remembered()).toEqual(snapshot.remembered);
  });

  test('keep what is missing', async () => {
    const { eyes, gates } = machine();
    await eyes.fresh();
    gates.gpus.answer = { gpus: cardsSeen(0), health: seen(null) };
    expect((await eyes.fresh()).remembered).toEqual([remembered(0), remembered(1)]);
  });

  test('are shown as they are by a look that was cut short, and not written', async () => {
    const { eyes, gates, cardStore } = machine();
    await eyes.fresh();
    const written = cardStore.written;
    gates.gpus.shut();
    expect((await eyes.recent(0, 20)).remembered).toEqual([remembered(0), remembered(1)]);
    expect(cardStore.written).toBe(written);
    gates.gpus.open();
  });

  test('may go on being written after a snapshot of them was taken', async () => {
    const { eyes, cardStore } = machine();
    await eyes.fresh();
    cardStore.excluded.push({
      uuid: cardUuid('GPU-0'),
      reason: 'fan',
      since: '2026-11-29T12:00:00.000Z',
      principal: 'op',
      until: null,
    });
    expect((await eyes.fresh()).exclusions).toHaveLength(1);
  });
});

test('a snapshot cannot be changed', async () => {
  const snapshot = await machine().eyes.fresh();
  expect(() => Object.assign(snapshot, { links: null })).toThrow(TypeError);
  expect(() => Object.assign(snapshot.gpus, { kind: 'blind' })).toThrow(TypeError);
});

test('one who is told of a look and throws does not spoil it', async () => {
  const { eyes, log } = machine({
    onLook: () => {
      throw new Error('a bug');
    },
  });
  expect((await eyes.fresh()).gpus.kind).toBe('seen');
  expect(log.sentences).toHaveLength(1);
});

interface Gate<T> {
  answer: T;
  fault: Error | null;
  shut(): void;
  open(): void;
  pass(): Promise<T>;
}

function gate<T>(answer: T): Gate<T> {
  let opened: Promise<void> = Promise.resolve();
  let open = (): void => {};
  return {
    answer,
    fault: null,
    shut: () => {
      opened = new Promise((resolve) => {
        open = resolve;
      });
    },
    open: () => open(),
    async pass() {
      await opened;
      if (this.fault !== null) throw this.fault;
      return this.answer;
    },
  };
}

function fakeCardBook(): CardStore & { readonly excluded: Exclusion[]; readonly written: number } {
  let cards: readonly RememberedCard[] = [];
  let written = 0;
  const excluded: Exclusion[] = [];
  return {
    excluded,
    get written() {
      return written;
    },
    remembered: () => cards,
    remember: (next) => {
      cards = next;
      written += 1;
    },
    exclusions: () => excluded,
    exclude: async (exclusion) => void excluded.push(exclusion),
    include: async () => false,
    forget: async () => false,
  };
}
