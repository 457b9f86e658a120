/** One query of a panel. */

import { DataqueryBuilder, PromQueryFormat, QueryEditorMode } from '@grafana/grafana-foundation-sdk/prometheus';

/** The value now. A range query would keep the last value of a gate that is gone. */
export function now(expr: string, legend = '__auto'): DataqueryBuilder {
  return query(expr).instant().legendFormat(legend);
}

/** The values now, as rows with a column for each label. */
export function rows(expr: string): DataqueryBuilder {
  return query(expr).instant().format(PromQueryFormat.Table);
}

/** The values over the displayed time range. */
export function course(expr: string, legend = '__auto'): DataqueryBuilder {
  return query(expr).range().legendFormat(legend);
}

function query(expr: string): DataqueryBuilder {
  return new DataqueryBuilder().expr(expr).editorMode(QueryEditorMode.Code);
}
