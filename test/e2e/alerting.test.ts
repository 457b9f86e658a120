import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { SIDE_QUERIES } from '../../grafana/alerts/wording.js';
import { cardAt, defaultMachine, putLoad } from '../../src/stand-in/machine/build-machine.js';
import type { Machine } from '../../src/stand-in/machine/machine.js';
import { startEngine, type Engine } from '../support/docker/engine.js';
import { startGate, type Gate } from '../support/gate.js';
import {
  startAlertmanager,
  startWebhook,
  type SentAlert,
  type TestAlertmanager,
  type Webhook,
} from '../support/services/alertmanager.js';
import { startPrometheus, type TestPrometheus } from '../support/services/prometheus.js';

/** From a card that breaks to the message that an operator gets: the shipped files, with shorter times. */
describe('a gate that is watched by Prometheus and Alertmanager', () => {
  const folder = mkdtempSync(join(tmpdir(), 'alerting-'));
  const broken = withTwoFindings();
  let engine: Engine;
  let gate: Gate;
  let webhook: Webhook;
  let alertmanager: TestAlertmanager;
  let prometheus: TestPrometheus;
  let uuid = '';

  beforeAll(async () => {
    [engine, webhook] = await Promise.all([startEngine(), startWebhook()]);
    gate = await startGate({ engine });
    alertmanager = await startAlertmanager(hastened('alertmanager/alertmanager.yml', webhook.url));
    const rules = join(folder, 'rules.yml');
    writeFileSync(rules, hastened('prometheus/rules.yml'));
    const scrape = hastened('prometheus/scrape.yml').replace('gate:9841', new URL(gate.url).host);
    prometheus = await startPrometheus({
      scrape: {},
      config: `${scrape}\nrule_files: [${rules}]\nalerting: {alertmanagers: [{static_configs: [{targets: ['${alertmanager.address}']}]}]}\n`,
    });
    const container = { image: engine.image, command: ['sleep', '600'] };
    expect(await gate.post('/admit', { run_id: 'train-17', count: 1, container })).toMatchObject({ status: 201 });
    gate.setMachine(atWork());
    uuid = (await gate.cards()).cards[0]?.uuid ?? '';
    await until(async () =>
      expect(await prometheus.query('tuneplane_gpu_cards{state="job_held"} == 1')).toHaveLength(1),
    );
  });
  afterAll(async () => {
    await gate?.stop();
    await engine?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const sent = (alertname: string): readonly SentAlert[] =>
    webhook.sent().filter(({ labels }) => labels['alertname'] === alertname);
  const firing = (alertname: string) => prometheus.query(`ALERTS{alertname="${alertname}", alertstate="firing"}`);
  const isHeldBack = async (alertname: string): Promise<boolean> =>
    (await alertmanager.alerts()).some(
      ({ labels, status }) => labels['alertname'] === alertname && status.inhibitedBy.length > 0,
    );

  test('sends nothing while all is well', async () => {
    await evaluations(3);
    expect(webhook.sent()).toEqual([]);
  });

  test('sends one alert for a held card that breaks, with reason, name and bus address in its text', async () => {
    gate.setMachine(broken);
    await until(() => expect(sent('TuneplaneCardUnhealthy')).toHaveLength(1));
    const { name, bus_id } = cardAt(broken, 0);
    const [alert] = sent('TuneplaneCardUnhealthy');
    expect(alert?.status).toBe('firing');
    expect(alert?.labels).toEqual({
      alertname: 'TuneplaneCardUnhealthy',
      job: 'tuneplane-gpu-gate',
      instance: new URL(gate.url).host,
      uuid,
      service: 'tuneplane-gpu-gate',
      severity: 'critical',
    });
    const where = `${name} at ${bus_id} (card 0)`;
    const instance = new URL(gate.url).host;
    expect(alert?.annotations['summary']).toBe(
      `${where} on ${instance} is unhealthy: ecc_uncorrected, recovery_action`,
    );
    expect(alert?.annotations['description']).toContain(`${where} (${uuid})`);
    expect((await gate.cards()).cards[0]).toMatchObject({ state: 'job_held' });
  });

  test('has for the rules of Grafana the same names and reasons, on the labels of the alert', async () => {
    const own = { job: 'tuneplane-gpu-gate', instance: new URL(gate.url).host, uuid };
    const names = await prometheus.query(SIDE_QUERIES.card.expr);
    expect(names).toHaveLength(8);
    expect(names.map(({ labels }) => labels)).toContainEqual({
      ...own,
      name: cardAt(broken, 0).name,
      pci_bus_id: cardAt(broken, 0).bus_id,
      index: '0',
    });
    const reasons = await prometheus.query(SIDE_QUERIES.reasons.expr);
    expect(reasons).toHaveLength(1);
    expect(reasons[0]?.labels).toMatchObject({
      ...own,
      reason: expect.stringMatching(/^(ecc_uncorrected|recovery_action)$/),
    });
  });

  test('keeps it while nvidia-smi shows nothing', async () => {
    gate.setNvidiaSmi({ script: 'echo "the driver is gone" >&2; exit 9' });
    await until(async () => {
      expect(await prometheus.query('tuneplane_gpu_probe_success{probe="gpus"} == 0')).toHaveLength(1);
      expect(await prometheus.query('tuneplane_gpu_card_unhealthy')).toEqual([]);
    });
    await evaluations(4);
    expect(await firing('TuneplaneCardUnhealthy')).toHaveLength(1);
    expect(sent('TuneplaneCardUnhealthy').map(({ status }) => status)).toEqual(['firing']);
  });

  test('ends it when the card was seen well again', async () => {
    gate.setMachine(atWork());
    gate.setNvidiaSmi('stand-in');
    await until(() =>
      expect(sent('TuneplaneCardUnhealthy').map(({ status }) => status)).toEqual(['firing', 'resolved']),
    );
    expect(new Set(sent('TuneplaneCardUnhealthy').map(({ fingerprint }) => fingerprint)).size).toBe(1);
  });

  test('says of a gate that is down only that, and holds back what else is known of its machine', async () => {
    gate.setMachine(broken);
    await until(async () => expect(await firing('TuneplaneCardUnhealthy')).toHaveLength(1));
    await gate.stop();
    await until(() => expect(sent('TuneplaneGateDown')).toHaveLength(1));
    expect(sent('TuneplaneGateDown')[0]).toMatchObject({ status: 'firing', labels: { severity: 'critical' } });
    await until(async () => expect(await isHeldBack('TuneplaneCardUnhealthy')).toBe(true));
    expect(await isHeldBack('TuneplaneGateDown')).toBe(false);
    const before = webhook.sent().length;
    await evaluations(4);
    expect(webhook.sent().slice(before)).toEqual([]);
    expect(await firing('TuneplaneCardUnhealthy')).toHaveLength(1);
  });

  /** Waits until each group of rules was evaluated so often from now on. */
  async function evaluations(times: number): Promise<void> {
    const before = await evaluated();
    await until(async () => expect(await evaluated()).toBeGreaterThanOrEqual(before + times));
  }

  /** How often the group did that was evaluated least. */
  async function evaluated(): Promise<number> {
    const page = await (await fetch(new URL('/metrics', prometheus.url))).text();
    const groups = [...page.matchAll(/^prometheus_rule_group_iterations_total\{.*\} (\S+)$/gm)];
    return Math.min(...groups.map(([, count]) => Number(count)));
  }
});

function until(holds: () => Promise<void> | void): Promise<void> {
  return vi.waitFor(holds, { timeout: 20_000, interval: 100 });
}

/** The first card is in use: a job that holds it and idles would be alerted on. */
function atWork(): Machine {
  const machine = defaultMachine();
  putLoad(cardAt(machine, 0), 40_000, { pid: 4242, name: 'python', memory_mib: 40_000 });
  return machine;
}

/** It has gone bad besides, in two ways. */
function withTwoFindings(): Machine {
  const machine = atWork();
  Object.assign(cardAt(machine, 0).ecc ?? {}, { uncorrected_volatile: 3 });
  cardAt(machine, 0).recovery_action = 'Reset';
  return machine;
}

/**
 * A shipped file with its times cut short: what is waited for is there in a second, and scrapes come every 2 s, since a scrape
 * that may take only a second ends before the stand-in on a busy machine. The ranges inside the expressions stay.
 */
function hastened(path: string, webhookUrl = ''): string {
  const text = readFileSync(new URL(`../../grafana/${path}`, import.meta.url), 'utf8');
  return text
    .replaceAll(/^(\s+scrape_(?:interval|timeout)): .*/gm, '$1: 2s')
    .replaceAll(/^(\s+interval): .*/gm, '$1: 500ms')
    .replaceAll(/^(\s+for): .*/gm, '$1: 1s')
    .replaceAll(/^(\s+group_wait): .*/gm, '$1: 100ms')
    .replaceAll(/^(\s+group_interval): .*/gm, '$1: 500ms')
    .replaceAll(/url_file: .*/g, `url: ${webhookUrl}`);
}
