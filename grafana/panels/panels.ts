/** The five kinds of panel in the dashboards. */

import { PanelBuilder as BarGauge } from '@grafana/grafana-foundation-sdk/bargauge';
import {
  BarGaugeDisplayMode,
  BarGaugeValueMode,
  BigValueColorMode,
  BigValueGraphMode,
  LegendDisplayMode,
  LegendPlacement,
  ReduceDataOptionsBuilder,
  SortOrder,
  StackingConfigBuilder,
  StackingMode,
  TooltipDisplayMode,
  VisibilityMode,
  VizOrientation,
  VizLegendOptionsBuilder,
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import type { ValueMap } from '@grafana/grafana-foundation-sdk/dashboard';
import { PanelBuilder as Stat } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as StateTimeline } from '@grafana/grafana-foundation-sdk/statetimeline';
import { PanelBuilder as Table } from '@grafana/grafana-foundation-sdk/table';
import { PanelBuilder as TimeSeries } from '@grafana/grafana-foundation-sdk/timeseries';
import { byMapping, byName, plain } from './colours.js';
import { framed, type Frame } from './frame.js';

/**
 * Large numbers with a coloured background. No sparkline: it would need a range query, whose last value outlives its gate.
 */
export function bigNumbers(frame: Frame): Stat {
  const reduced = new ReduceDataOptionsBuilder().calcs(['lastNotNull']).values(false).fields('');
  return framed(new Stat(), frame)
    .colorMode(BigValueColorMode.Background)
    .graphMode(BigValueGraphMode.None)
    .thresholds(plain())
    .reduceOptions(reduced);
}

/** One bar for each name, the longest first. */
export function bars(frame: Frame): BarGauge {
  const reduced = new ReduceDataOptionsBuilder().calcs(['lastNotNull']).values(false).fields('');
  return framed(new BarGauge(), frame)
    .colorScheme(byName())
    .min(0)
    .orientation(VizOrientation.Horizontal)
    .displayMode(BarGaugeDisplayMode.Basic)
    .valueMode(BarGaugeValueMode.Text)
    .reduceOptions(reduced);
}

/** Lines over time. A gap stays a gap. */
export function lines(frame: Frame): TimeSeries {
  return framed(new TimeSeries(), frame)
    .colorScheme(byName())
    .min(0)
    .lineWidth(1)
    .fillOpacity(10)
    .showPoints(VisibilityMode.Auto)
    .spanNulls(false)
    .legend(
      new VizLegendOptionsBuilder()
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom)
        .showLegend(true),
    )
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending).hideZeros(true));
}

/** The same, stacked. */
export function stackedLines(frame: Frame): TimeSeries {
  return lines(frame).fillOpacity(70).stacking(new StackingConfigBuilder().mode(StackingMode.Normal).group('A'));
}

/** Periods of time, each with a word and a colour. */
export function stretches(frame: Frame, words: ValueMap): StateTimeline {
  return framed(new StateTimeline(), frame)
    .colorScheme(byMapping())
    .thresholds(plain())
    .mappings([words])
    .showValue(VisibilityMode.Auto)
    .mergeValues(true)
    .fillOpacity(90)
    .lineWidth(0)
    .rowHeight(0.9)
    .legend(
      new VizLegendOptionsBuilder()
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom)
        .showLegend(true),
    )
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Single));
}

/** A table. */
export function rowsAndColumns(frame: Frame): Table {
  return framed(new Table(), frame).thresholds(plain()).showHeader(true).filterable(true);
}
