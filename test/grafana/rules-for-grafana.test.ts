import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { RULES } from '../../grafana/alerts/rules.js';

/** What Grafana asks of a provisioned rule: pkg/services/provisioning/alerting/rules_types.go and the limits of its models. */
const duration = z.string().regex(/^(?:\d+(?:ms|[smhdw]))+$/);
const queryShape = z.strictObject({
  refId: z.string().min(1),
  relativeTimeRange: z.strictObject({ from: z.int().positive(), to: z.literal(0) }),
  datasourceUid: z.string().min(1),
  model: z.looseObject({
    refId: z.string(),
    datasource: z.strictObject({ type: z.enum(['prometheus', '__expr__']), uid: z.string() }),
    intervalMs: z.int(),
    maxDataPoints: z.int(),
  }),
});
const ruleShape = z.strictObject({
  uid: z.string().regex(/^[\w-]{1,40}$/),
  title: z.string().min(1).max(190),
  condition: z.string(),
  data: z.array(queryShape).min(2),
  noDataState: z.enum(['NoData', 'Alerting', 'OK', 'KeepLast']),
  execErrState: z.enum(['Error', 'Alerting', 'OK', 'KeepLast']),
  for: duration,
  annotations: z.strictObject({ summary: z.string(), description: z.string(), runbook_url: z.url() }),
  labels: z.strictObject({ service: z.string(), severity: z.enum(['critical', 'warning', 'info']) }),
  isPaused: z.literal(false),
});
const fileShape = z.strictObject({
  apiVersion: z.literal(1),
  groups: z.array(
    z.strictObject({
      orgId: z.literal(1),
      name: z.string().min(1).max(190),
      folder: z.string().min(1),
      interval: duration.refine((text) => Number.parseInt(text, 10) % 10 === 0),
      rules: z.array(ruleShape).min(1),
    }),
  ),
});

describe('the rules for Grafana', () => {
  const file = fileShape.parse(
    parse(readFileSync(new URL('../../grafana/provisioning/alerting/rules.yaml', import.meta.url), 'utf8')),
  );
  const rules = file.groups.flatMap((group) => group.rules);

  test('are those for Prometheus: same names, same order, same queries', () => {
    const mine = rules.map(({ title, for: lasts, labels, data }) => [
      title,
      lasts,
      labels.severity,
      data[0]?.model['expr'],
    ]);
    expect(mine).toEqual(RULES.map(({ name, for: lasts, severity, expr }) => [name, lasts, severity, expr]));
  });

  test('have uids, titles and groups of their own', () => {
    for (const all of [
      rules.map(({ uid }) => uid),
      rules.map(({ title }) => title),
      file.groups.map(({ name }) => name),
    ]) {
      expect(new Set(all).size).toBe(all.length);
    }
  });

  test('say nothing where there is nothing, and have one rule for a gate that is gone and one for no gate at all', () => {
    expect(new Set(rules.map(({ noDataState }) => noDataState))).toEqual(new Set(['OK']));
    expect(rules.map(({ title }) => title)).toEqual(
      expect.arrayContaining(['TuneplaneGateDown', 'TuneplaneGateNotScraped']),
    );
    expect(rules.filter(({ execErrState }) => execErrState !== 'OK').map(({ title }) => title)).toEqual([
      'TuneplaneGateDown',
    ]);
  });

  test.each(rules)('$title decides by a query that it has, and its texts speak of queries that it has', (rule) => {
    const refs = rule.data.map(({ refId }) => refId);
    expect(new Set(refs).size).toBe(refs.length);
    expect(rule.data.map(({ model }) => model.refId)).toEqual(refs);
    const condition = rule.data.find(({ refId }) => refId === rule.condition);
    expect(condition).toMatchObject({
      datasourceUid: '__expr__',
      model: { type: 'math', expression: 'is_number($A)' },
    });
    const texts = Object.values(rule.annotations).join(' ');
    for (const [, ref] of texts.matchAll(/\.Values\.(\w+)/g)) expect(refs).toContain(ref);
    // Provisioning puts in variables of the environment; Grafana knows no query in a text.
    expect(texts).not.toMatch(/\$|query/);
  });
});
