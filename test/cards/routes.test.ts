import { expect, test } from 'vitest';
import { cardsShape } from '../../src/cards/card-shape.js';
import { cardIndex, cardUuid } from '../../src/model/card.js';
import type { Exclusion } from '../../src/model/snapshot.js';
import { startGate, type Gate } from '../http/gate.js';
import { watchedMachine } from '../http/machine.js';

test('a card is shown with its state, who holds it and all that was found', async () => {
  const gate = await startGate();
  const body: unknown = await (await fetch(`${gate.url}/cards`)).json();
  cardsShape.parse(body);
  const common = {
    failed_starts: 0,
    name: 'NVIDIA H100 80GB HBM3',
    pci_bus_id: '00000000:1B:00.0',
    excluded: null,
    unknown_because: null,
    reserved_for: null,
    memory_size_bytes: 2048,
    utilization_ratio: 0,
    temperature_celsius: 31,
    power_watts: 71.23,
    held_idle_seconds: null,
  };
  expect(body).toEqual({
    observed_at: '2026-11-29T12:00:00.000Z',
    external_probe_ok: true,
    series: 'nvidia h100 80gb hbm3',
    explain: '2 cards, none free',
    notes: ['a claim names card 9, which is not here'],
    counts: { free: 0, job_held: 1, external: 1, unhealthy: 0, excluded: 0, unknown: 0 },
    probes: {
      gpus: { ok: true, took_ms: 81, age_seconds: 1 },
      processes: { ok: true, took_ms: 81, age_seconds: 1 },
      health: { ok: null, detail: 'switched off by a setting' },
      docker: { ok: false, took_ms: 3, why: 'unavailable', detail: 'the socket is not there' },
      kernel: { ok: null, detail: 'switched off by a setting' },
    },
    cards: [
      {
        ...common,
        index: 0,
        uuid: 'GPU-0',
        state: 'job_held',
        claims: 1,
        held_by: {
          run_id: 'train-17',
          container: 'tuneplane-train-17',
          container_id: 'c0ffee',
          state: 'running',
          since: '2026-11-29T11:59:00.000Z',
          principal: 'console',
          labels: { team: 'vision' },
          image: 'train:1.4',
          command: 'python train.py',
        },
        external: null,
        unhealthy: [{ reason: 'ecc_uncorrected', detail: '3 uncorrected ECC errors since the driver was loaded' }],
        warnings: [],
        memory_used_bytes: 1024,
      },
      {
        ...common,
        index: 1,
        uuid: 'GPU-1',
        state: 'external',
        claims: 0,
        held_by: null,
        external: {
          processes: [{ pid: 4242, name: 'python', memory_mib: 812 }],
          memory_mib: 812,
          containers: ['jupyter'],
        },
        unhealthy: [],
        warnings: [{ reason: 'row_remap_pending', detail: 'takes effect at the next reset' }],
        memory_used_bytes: null,
      },
    ],
  });
});

test('a card is excluded with a reason and a name, and the answer shows it as a new look sees it', async () => {
  const gate = await startGate();
  gate.look = () => {
    const seen = watchedMachine();
    const [exclusion] = gate.cardStore.out;
    const excluded = exclusion === undefined ? null : { by: 'operator' as const, ...withoutUuid(exclusion) };
    return {
      ...seen,
      occupancy: { ...seen.occupancy, cards: seen.occupancy.cards.map((card) => ({ ...card, excluded })) },
    };
  };
  const response = await operate(gate, 'GPU-1', 'exclude', { reason: 'fan is loud' });
  expect(response.status).toBe(200);
  const since = '2026-11-29T12:00:01.000Z';
  expect(await response.json()).toMatchObject({
    uuid: 'GPU-1',
    excluded: { by: 'operator', reason: 'fan is loud', since, principal: 'local', until: null },
  });
  expect(gate.cardStore.out).toEqual([
    { uuid: 'GPU-1', reason: 'fan is loud', since: '2026-11-29T12:00:01.000Z', principal: 'local', until: null },
  ]);
  const back = await operate(gate, 'GPU-1', 'include');
  expect(await back.json()).toMatchObject({ uuid: 'GPU-1', excluded: null });
  expect(gate.audit).toMatchObject([
    { action: 'exclude', outcome: 'excluded', cards: ['GPU-1'], detail: 'fan is loud', principal: 'local' },
    { action: 'include', outcome: 'included', cards: ['GPU-1'] },
  ]);
  expect(gate.outcomes).toEqual([]);
});

test.each([
  ['2026-11-29T14:00:00Z', '2026-11-29T14:00:00.000Z'],
  ['2026-11-29T14:00:00.250+01:00', '2026-11-29T13:00:00.250Z'],
  ['2026-12-06T07:30:00-05:00', '2026-12-06T12:30:00.000Z'],
])('a card is excluded until %s, kept in UTC and told in the audit', async (until, kept) => {
  const gate = await startGate();
  expect((await operate(gate, 'GPU-1', 'exclude', { reason: 'burn-in', until })).status).toBe(200);
  expect(gate.cardStore.out).toMatchObject([{ uuid: 'GPU-1', reason: 'burn-in', until: kept }]);
  expect(gate.audit).toMatchObject([{ outcome: 'excluded', detail: `burn-in (until ${kept})` }]);
});

test.each([
  ['without a zone', '2026-11-29T14:00:00', 'with a zone'],
  ['that is a word', 'tomorrow', 'with a zone'],
  ['that is a duration', '2h', 'with a zone'],
  ['on a day that there is not', '2027-02-30T12:00:00Z', 'with a zone'],
  ['that is a number', 1_800_000_000, 'with a zone'],
  ['as long as a page', `2027-01-01T00:00:00.${'0'.repeat(3000)}Z`, 'with a zone'],
  [
    'that has passed',
    '2026-11-29T12:00:00Z',
    'in the future; got 2026-11-29T12:00:00Z, and it is 2026-11-29T12:00:01.000Z',
  ],
  ['that is now', '2026-11-29T12:00:01Z', 'in the future'],
])('a card is not excluded until a time %s', async (_says, until, words) => {
  const gate = await startGate();
  const response = await operate(gate, 'GPU-1', 'exclude', { reason: 'x', until });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    code: 'invalid_request',
    detail: expect.stringContaining('/until: '),
    errors: [{ pointer: '/until', detail: expect.stringContaining(words) }],
  });
  expect(gate.cardStore.out).toEqual([]);
});

test.each([
  ['no reason', {}],
  ['an empty reason', { reason: '' }],
  ['a reason of spaces', { reason: '   ' }],
  ['a reason of 501 characters', { reason: 'x'.repeat(501) }],
  ['an unknown key', { reason: 'x', for: '2h' }],
  ['a list', ['x']],
])('a card is not excluded for %s', async (_says, body) => {
  const gate = await startGate();
  const response = await operate(gate, 'GPU-1', 'exclude', body);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ code: 'invalid_request', errors: [{ detail: expect.any(String) }] });
  expect(gate.cardStore.out).toEqual([]);
  expect(gate.audit).toMatchObject([{ action: 'exclude', outcome: 'invalid_request' }]);
});

test.each(['exclude', 'include', 'forget'])('nobody can %s a card that nobody knows', async (action) => {
  const gate = await startGate();
  for (const uuid of ['GPU-9', '0', '__proto__']) {
    const response = await operate(gate, uuid, action, { reason: 'x' });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: 'not_found', detail: expect.stringContaining(uuid) });
  }
});

test('a card that is in the machine is not forgotten', async () => {
  const gate = await startGate();
  const response = await operate(gate, 'GPU-1', 'forget');
  expect(response.status).toBe(409);
  expect(await response.json()).toMatchObject({ code: 'card_present' });
});

test('a card that is only on the books is forgotten, and known no more', async () => {
  const gate = await startGate();
  gate.cardStore.cards.push({ uuid: cardUuid('GPU-7'), index: cardIndex(7), name: 'x', pciBusId: 'y' });
  expect((await operate(gate, 'GPU-7', 'forget')).status).toBe(204);
  expect(gate.cardStore.cards).toEqual([]);
  expect((await operate(gate, 'GPU-7', 'forget')).status).toBe(404);
  expect(gate.audit.map(({ outcome }) => outcome)).toEqual(['forgotten', 'not_found']);
});

test('a card that is on the books and in no look is excluded all the same', async () => {
  const gate = await startGate();
  gate.cardStore.cards.push({ uuid: cardUuid('GPU-7'), index: cardIndex(7), name: 'x', pciBusId: 'y' });
  expect((await operate(gate, 'GPU-7', 'exclude', { reason: 'x' })).status).toBe(204);
  expect(gate.cardStore.out).toHaveLength(1);
});

test('a word that could not be kept is a fault, and is not taken for given', async () => {
  const gate = await startGate();
  gate.cardStore.exclude = () => Promise.reject(new Error('the disk is full'));
  const response = await operate(gate, 'GPU-1', 'exclude', { reason: 'x' });
  expect(response.status).toBe(500);
  expect(gate.audit).toMatchObject([{ action: 'exclude', outcome: 'internal' }]);
});

function operate(gate: Gate, uuid: string, action: string, body?: unknown): Promise<Response> {
  return fetch(`${gate.url}/cards/${uuid}/${action}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

function withoutUuid({ reason, since, principal, until }: Exclusion) {
  return { reason, since, principal, until };
}
