import { describe, expect, test } from 'vitest';
import { readinessBy } from '../../src/http/readiness.js';
import { watchMachine, type Look } from '../matrix/watched-machine.js';
import { IDLE } from '../metrics/occupancies.js';
import { fakeLock } from '../support/fake-lock.js';
import { cardAt, machineWith, pageOf, seriesOfCard, statesOf, uuidOf } from './cards-of.js';
import { listedContainers } from './listed-containers.js';

/** Pages that went on showing what was no longer true. */

const job = (runId: string, uuid: string) => ({
  id: runId,
  labels: { 'tuneplane.run_id': runId, 'tuneplane.gpu-uuids': uuid },
});

// M01, https://github.com/SikamikanikoBG/homelab-monitor/issues/6
describe('gauges that are set and never cleared keep a stopped container, a renamed owner and a removed card for ever', () => {
  const two = () =>
    machineWith([
      { uuid: uuidOf(1), memory_used_mib: 100 },
      { uuid: uuidOf(2), memory_used_mib: 200 },
    ]);

  test('one holder at a time, one state at a time', async () => {
    const docker = await listedContainers([job('alice', uuidOf(1))]);
    const watched = watchMachine(two(), { books: docker.books });
    expect(holders(await watched.look())).toEqual(['alice']);
    docker.list = [job('bob', uuidOf(1))];
    const look = await watched.look();
    expect(holders(look)).toEqual(['bob']);
    expect(seriesOfCard(look, 'tuneplane_gpu_card_state', 0).toSorted((a, b) => a - b)).toEqual([0, 0, 0, 0, 0, 1]);
  });

  test('a card that was removed is missing and has no old reading', async () => {
    const watched = watchMachine(two());
    const before = await watched.look();
    expect(seriesOfCard(before, 'tuneplane_gpu_card_memory_used_bytes', 1)).toEqual([200 * 1024 * 1024]);
    watched.machine = two();
    Object.assign(watched.machine.cards[1] ?? {}, { fault: { kind: 'gone' } });
    const look = await watched.look();
    expect(cardAt(look, 1)).toMatchObject({ state: 'unhealthy', uuid: uuidOf(2), health: { missing: true } });
    for (const name of ['memory_used_bytes', 'memory_size_bytes', 'processes', 'persistence_mode']) {
      expect(seriesOfCard(look, `tuneplane_gpu_card_${name}`, 1)).toEqual([]);
    }
  });

  test('a thousand short jobs leave as many series as one', async () => {
    const docker = await listedContainers([job('job-0', uuidOf(1))]);
    const watched = watchMachine(two(), { books: docker.books });
    const first = pageOf(await watched.look()).size;
    let last = first;
    for (let nth = 1; nth <= 1000; nth += 1) {
      docker.list = [job(`job-${nth}`, uuidOf(1))];
      if (nth % 50 === 0) last = pageOf(await watched.look()).size;
    }
    expect(last).toBe(first);
  });

  test('no pid, container id, time or reading is a label', async () => {
    const machine = two();
    machine.cards[1]?.processes.push({ pid: 424_242, name: 'python', memory_mib: 190 });
    const { books } = await listedContainers([{ ...job('train', uuidOf(1)), id: 'c0ffee' }]);
    const { wholePage } = await watchMachine(machine, { books }).look();
    expect(wholePage).not.toMatch(/424242|c0ffee|="\d{9,}"/);
    const labels = new Set([...wholePage.matchAll(/[{,](\w+)="/g)].map(([, label]) => label));
    for (const label of ['pid', 'container', 'container_id', 'process', 'temperature'])
      expect(labels).not.toContain(label);
  });
});

// M04, https://github.com/NVIDIA/gpu-monitoring-tools/issues/188
describe('a collector was dead while the page went on with the last values; elsewhere one dead collector made a 500 of it', () => {
  const readyBy = (look: Look) =>
    readinessBy(look, {
      lock: fakeLock(),
      admissions: { status: () => IDLE },
      admitWhenBlind: false,
      runtimeTrouble: () => null,
      ruleFiles: () => [],
    });

  test('nvidia-smi dead for five minutes: no reading is shown, who holds what is', async () => {
    const { books } = await listedContainers([job('train', uuidOf(1))]);
    const watched = watchMachine(machineWith([{ uuid: uuidOf(1), memory_used_mib: 9000 }, { uuid: uuidOf(2) }]), {
      books,
    });
    const good = await watched.look();
    expect(readyBy(good).ready).toBe(true);
    watched.retell = () => ({ rc: 9, stdout: 'NVIDIA-SMI has failed\n' });
    watched.forward(300_000);
    const look = await watched.look();
    const page = pageOf(look);
    expect(page.get('tuneplane_gpu_probe_success{probe="gpus"}')).toBe(0);
    expect(page.get('tuneplane_gpu_probe_success{probe="docker"}')).toBe(1);
    const last = (probe: string) => page.get(`tuneplane_gpu_probe_last_success_timestamp_seconds{probe="${probe}"}`);
    expect((last('docker') ?? 0) - (last('gpus') ?? 0)).toBe(300);
    expect([...page.keys()].filter((series) => /card_(memory|processes|persistence)/.test(series))).toEqual([]);
    expect(statesOf(look)).toBe('job_held unknown');
    expect(holders(look)).toEqual(['train']);
    expect(readyBy(look)).toMatchObject({ ready: false, parts: { probe: { ok: false }, runtime: { ok: true } } });
  });

  test('Docker dead: the readings are shown, and no card is free', async () => {
    const watched = watchMachine(machineWith([{ memory_used_mib: 9000 }, {}]));
    watched.books = {
      ...watched.books,
      list: async () => ({ kind: 'blind', why: 'unavailable', detail: 'connect ECONNREFUSED', tookMs: 1 }),
    };
    const look = await watched.look();
    const page = pageOf(look);
    expect(page.get('tuneplane_gpu_probe_success{probe="docker"}')).toBe(0);
    expect(seriesOfCard(look, 'tuneplane_gpu_card_memory_used_bytes', 0)).toEqual([9000 * 1024 * 1024]);
    expect(statesOf(look)).toBe('unknown unknown');
    expect(page.get('tuneplane_gpu_cards{state="free"}')).toBe(0);
    expect(readyBy(look)).toMatchObject({
      ready: false,
      parts: { runtime: { ok: false, detail: 'connect ECONNREFUSED' } },
    });
  });
});

/** The runs that the page names as holders. */
function holders(look: Look): readonly string[] {
  const series = [...pageOf(look).keys()].filter((name) => name.startsWith('tuneplane_gpu_card_holder_info'));
  return series.map((name) => /run_id="([^"]*)"/.exec(name)?.[1] ?? '');
}
