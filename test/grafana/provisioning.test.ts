import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { DATASOURCE_UID } from '../../grafana/ids.js';
import { readDashboard } from './dashboard-file.js';

const root = new URL('../../', import.meta.url);
const text = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const read = (path: string): unknown => parse(text(`grafana/provisioning/${path}`));

/** Grafana: Administration, Provision Grafana, Data sources. Unknown keys are ignored there, so a slip would go unseen. */
const datasourcesFile = z.strictObject({
  apiVersion: z.literal(1),
  datasources: z.array(
    z.strictObject({
      name: z.string().min(1),
      type: z.literal('prometheus'),
      uid: z.string().regex(/^[\w-]{1,40}$/),
      orgId: z.number().int().positive(),
      access: z.enum(['proxy', 'direct']),
      url: z.string().min(1),
      isDefault: z.boolean(),
      editable: z.boolean(),
      jsonData: z.strictObject({
        httpMethod: z.enum(['GET', 'POST']),
        timeInterval: z.string().regex(/^\d+[smh]$/),
        manageAlerts: z.boolean(),
      }),
    }),
  ),
});

/** The same, Dashboards. */
const providersFile = z.strictObject({
  apiVersion: z.literal(1),
  providers: z.array(
    z.strictObject({
      name: z.string().min(1),
      orgId: z.number().int().positive(),
      type: z.literal('file'),
      folder: z.string(),
      disableDeletion: z.boolean(),
      allowUiUpdates: z.boolean(),
      updateIntervalSeconds: z.number().int().min(10),
      options: z.strictObject({ path: z.string().startsWith('/'), foldersFromFilesStructure: z.boolean() }),
    }),
  ),
});

const duration = z.string().regex(/^\d+[smhd]$/);
const timing = { group_wait: duration, group_interval: duration, repeat_interval: duration };

/** Grafana: Alerting, Set up, Provision, File provisioning: contact points and the notification policy tree. */
const notificationsFile = z.strictObject({
  apiVersion: z.literal(1),
  contactPoints: z.array(
    z.strictObject({
      orgId: z.number().int().positive(),
      name: z.string().min(1),
      receivers: z
        .array(
          z.strictObject({
            uid: z.string().regex(/^[\w-]{1,40}$/),
            type: z.literal('webhook'),
            disableResolveMessage: z.boolean(),
            settings: z.strictObject({ url: z.string().min(1), httpMethod: z.enum(['POST', 'PUT']) }),
          }),
        )
        .min(1),
    }),
  ),
  policies: z
    .array(
      z.strictObject({
        orgId: z.number().int().positive(),
        receiver: z.string(),
        group_by: z.array(z.string()).min(1),
        ...timing,
        routes: z.array(
          z.strictObject({
            receiver: z.string(),
            object_matchers: z.array(z.tuple([z.string(), z.enum(['=', '!=', '=~', '!~']), z.string()])).min(1),
            group_by: z.array(z.string()).min(1),
            ...timing,
          }),
        ),
      }),
    )
    .length(1),
});

/** Of the alert rules only what the other files have to fit. */
const rulesFile = z.object({
  groups: z.array(
    z.object({
      folder: z.string(),
      rules: z.array(
        z.object({
          uid: z.string(),
          labels: z.record(z.string(), z.string()),
          data: z.array(z.object({ datasourceUid: z.string() })),
        }),
      ),
    }),
  ),
});

describe('what Grafana is provisioned with', () => {
  const { datasources } = datasourcesFile.parse(read('datasources/prometheus.yaml'));
  const { providers } = providersFile.parse(read('dashboards/dashboards.yaml'));
  const { contactPoints, policies } = notificationsFile.parse(read('alerting/notifications.yaml'));
  const { groups } = rulesFile.parse(read('alerting/rules.yaml'));

  test('is read by Grafana from the folders where it looks, each file as YAML', () => {
    expect(readdirSync(new URL('grafana/provisioning/', root)).toSorted()).toEqual([
      'alerting',
      'dashboards',
      'datasources',
    ]);
  });

  test('one Prometheus, under the uid that the alert rules ask for, at an address from the environment', () => {
    expect(datasources).toMatchObject([{ uid: DATASOURCE_UID, url: '${PROMETHEUS_URL}' }]);
    const asked = groups.flatMap(({ rules }) => rules.flatMap(({ data }) => data.map((query) => query.datasourceUid)));
    expect(new Set(asked)).toEqual(new Set([DATASOURCE_UID, '__expr__']));
  });

  test('its scrape interval is that of the scrape configuration beside it', () => {
    const scrape = z
      .object({ scrape_configs: z.array(z.object({ job_name: z.string(), scrape_interval: z.string() })) })
      .parse(parse(text('grafana/prometheus/scrape.yml')));
    expect(scrape.scrape_configs.map((job) => job.scrape_interval)).toEqual([datasources[0]?.jsonData.timeInterval]);
  });

  test('no uid twice, among all that have one', () => {
    const uids = [
      ...datasources.map(({ uid }) => uid),
      ...contactPoints.flatMap(({ receivers }) => receivers.map(({ uid }) => uid)),
      ...groups.flatMap(({ rules }) => rules.map(({ uid }) => uid)),
      readDashboard('fleet').uid,
      readDashboard('card').uid,
    ];
    expect(new Set(uids).size).toBe(uids.length);
  });

  test('the dashboards and the alert rules lie in one folder', () => {
    const folders = [...providers, ...groups].map(({ folder }) => folder);
    expect(new Set(folders).size).toBe(1);
  });

  test('alerts go to a contact point that is there, at an address from the environment', () => {
    expect(contactPoints.map(({ receivers }) => receivers.map(({ settings }) => settings.url))).toEqual([
      ['${ALERT_WEBHOOK_URL}'],
    ]);
    const names = contactPoints.map(({ name }) => name);
    for (const policy of policies) {
      for (const { receiver } of [policy, ...policy.routes]) expect(names).toContain(receiver);
    }
  });

  test('the alerts of one card come as one message, those of other cards as others', () => {
    const services = new Set(groups.flatMap(({ rules }) => rules.map(({ labels }) => labels['service'])));
    const [route] = policies[0]?.routes ?? [];
    expect(route?.group_by).toEqual(['job', 'instance', 'uuid']);
    expect(route?.object_matchers).toEqual([
      ...Array.from(services, (service) => ['service', '=', service]),
      ['uuid', '=~', '.+'],
    ]);
  });

  test('compose.yaml mounts the dashboards where they are looked for, and sets every variable that these files name', () => {
    const { grafana } = z
      .object({
        services: z.object({
          grafana: z.object({ volumes: z.array(z.string()), environment: z.record(z.string(), z.string()) }),
        }),
      })
      .parse(parse(text('compose.yaml'))).services;
    expect(grafana.volumes).toContain(`./grafana/dashboards:${providers[0]?.options.path}:ro`);
    expect(grafana.volumes).toContain('./grafana/provisioning:/etc/grafana/provisioning:ro');
    const files = ['datasources/prometheus.yaml', 'dashboards/dashboards.yaml', 'alerting/notifications.yaml'];
    const named = files.flatMap((file) =>
      [...JSON.stringify(read(file)).matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name),
    );
    expect(Object.keys(grafana.environment)).toEqual(expect.arrayContaining(named));
  });
});
