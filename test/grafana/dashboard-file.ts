import { readFileSync } from 'node:fs';
import { z } from 'zod';

const reference = z.object({ type: z.literal('prometheus'), uid: z.literal('${datasource}') });
const link = z.object({ title: z.string().min(1), url: z.string().min(1) });
const override = z.object({
  matcher: z.object({ id: z.string(), options: z.string() }),
  properties: z.array(z.object({ id: z.string(), value: z.unknown() })).min(1),
});

const rowShape = z.object({
  id: z.number().int().positive(),
  type: z.literal('row'),
  title: z.string().min(1),
  gridPos: z.object({ x: z.literal(0), y: z.number(), w: z.literal(24), h: z.literal(1) }),
});

const targetShape = z.object({
  refId: z.string().regex(/^[A-Z]$/),
  expr: z.string().min(1),
  instant: z.boolean(),
  range: z.boolean(),
  legendFormat: z.string().optional(),
  format: z.literal('table').optional(),
});

const panelShape = z.object({
  id: z.number().int().positive(),
  // Grafana's own panels, without the deprecated ones: graph, singlestat, table-old.
  type: z.enum(['stat', 'timeseries', 'table', 'state-timeline', 'bargauge']),
  title: z.string().min(1),
  description: z.string().min(30),
  datasource: reference,
  gridPos: z.object({ x: z.number().int(), y: z.number().int(), w: z.number().int(), h: z.number().int() }),
  targets: z.array(targetShape).min(1),
  fieldConfig: z.object({
    defaults: z.object({
      unit: z.string().min(1),
      noValue: z.string().min(1),
      mappings: z.array(z.unknown()).optional(),
    }),
    overrides: z.array(override),
  }),
  transformations: z.array(z.object({ id: z.string(), options: z.record(z.string(), z.unknown()) })).optional(),
});

const variableShape = z.discriminatedUnion('type', [
  z.object({ type: z.literal('datasource'), name: z.string(), query: z.literal('prometheus') }),
  z.object({
    type: z.literal('query'),
    name: z.string(),
    query: z.object({ query: z.string(), qryType: z.number(), refId: z.string() }),
    datasource: reference,
    regex: z.string().optional(),
    multi: z.boolean(),
    includeAll: z.boolean(),
    refresh: z.literal(2),
  }),
]);

const dashboardShape = z.object({
  uid: z.string().regex(/^[\w-]{1,40}$/),
  title: z.string().min(1),
  description: z.string().min(1),
  schemaVersion: z.number().int(),
  tags: z.array(z.string()).min(1),
  links: z.array(link).optional(),
  templating: z.object({ list: z.array(variableShape) }),
  panels: z.array(z.discriminatedUnion('type', [rowShape, panelShape])),
});

export type DashboardFile = z.infer<typeof dashboardShape>;
export type Panel = z.infer<typeof panelShape>;
export type Variable = Extract<z.infer<typeof variableShape>, { type: 'query' }>;

/** A committed dashboard, validated against Grafana's requirements and our own. */
export function readDashboard(name: 'fleet' | 'card'): DashboardFile {
  const text = readFileSync(new URL(`../../grafana/dashboards/${name}.json`, import.meta.url), 'utf8');
  return dashboardShape.parse(JSON.parse(text));
}

/** Its panels without the rows between them. */
export function panelsOf(dashboard: DashboardFile): readonly Panel[] {
  return dashboard.panels.filter((panel) => panel.type !== 'row');
}

/** The panel of that title. */
export function panel(dashboard: DashboardFile, title: string): Panel {
  const found = panelsOf(dashboard).find((each) => each.title === title);
  if (found === undefined) throw new Error(`${dashboard.title} has no panel ${title}`);
  return found;
}

/** The variables that query Prometheus, in order. */
export function variablesOf(dashboard: DashboardFile): readonly Variable[] {
  return dashboard.templating.list.filter((variable) => variable.type === 'query');
}

/** Every link anywhere in it. */
export function linksIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inside]) =>
    key === 'url' && typeof inside === 'string' ? [inside] : linksIn(inside),
  );
}
