import { expect, test } from 'vitest';
import { healthyMachine } from '../../src/stand-in/machine/build-machine.js';
import { startGate } from './gate.js';
import { by } from './metrics-page.js';

test('a gate starts on a machine of its own, shows its cards, and ends in order', async () => {
  const gate = await startGate({ machine: healthyMachine({ cards: 3 }) });
  expect((await gate.cards()).cards).toHaveLength(3);
  // Without a Docker Engine, the states of the cards are unknown.
  expect(by(await gate.metrics(), 'tuneplane_gpu_cards', 'state')).toMatchObject({ unknown: 3, free: 0 });
  expect(await gate.stop()).toEqual({ code: 0, signal: null });
  await expect(gate.get('/healthz')).rejects.toThrow('ECONNREFUSED');
});

test('the machine can change while the gate runs', async () => {
  const gate = await startGate({ settings: { TUNEPLANE_SCRAPE_MAX_AGE_MS: '0' } });
  gate.setNvidiaSmi({ script: 'echo "NVIDIA-SMI has failed"; exit 9' });
  await expect.poll(async () => (await gate.cards()).probes.gpus).toMatchObject({ ok: false, why: 'exit' });
  gate.setNvidiaSmi('none');
  await expect.poll(async () => (await gate.cards()).probes.gpus).toMatchObject({ ok: false, why: 'spawn' });
  gate.setNvidiaSmi('stand-in');
  gate.setMachine(healthyMachine({ cards: 2 }));
  await expect.poll(async () => (await gate.cards()).probes.gpus).toMatchObject({ ok: true });
});

test('a gate that was killed says so', async () => {
  const gate = await startGate();
  expect(await gate.kill()).toEqual({ code: null, signal: 'SIGKILL' });
});

test('a gate that cannot start tells what it said', async () => {
  await expect(startGate({ settings: { TUNEPLANE_PROCESSES: 'two' } })).rejects.toThrow(
    /exit code 2.*TUNEPLANE_PROCESSES/s,
  );
});
