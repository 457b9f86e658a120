/** One query of a panel. */

import { DataqueryBuilder, PromQueryFormat, QueryEditorMode } from '@grafana/grafana-foundation-sdk/prometheus';

/** The value now. A range would go on showing the last value of a gate that is gone. */
export function now(expr: string, legend = '__auto'): DataqueryBuilder {
  return query(expr).instant().legendFormat(legend);
}

/** Now, as rows with a column for each label. */
export function rows(expr: string): DataqueryBuilder {
  return query(expr).instant().format(PromQueryFormat.Table);
}

/** The course over the time that the dashboard shows. */
export function course(expr: string, legend = '__auto'): DataqueryBuilder {
  return query(expr).range().legendFormat(legend);
}

function query(expr: string): DataqueryBuilder {
  return new DataqueryBuilder().expr(expr).editorMode(QueryEditorMode.Code);
}
