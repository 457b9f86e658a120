/** The properties that every panel must have. */

/** Title, position and unit of a panel. */
export interface Frame {
  readonly title: string;
  /** What the panel shows, and which values are bad. */
  readonly description: string;
  /** Width in Grafana's 24 columns. */
  readonly width: number;
  readonly height: number;
  /** Grafana's name of the unit; `none` for plain numbers. */
  readonly unit: string;
  /** The text for an empty result; it must not read as "fine". */
  readonly noValue: string;
}

/** The common part of the builders of all panel types. */
interface Framed {
  title(title: string): this;
  description(description: string): this;
  span(width: number): this;
  height(height: number): this;
  unit(unit: string): this;
  noValue(words: string): this;
  datasource(reference: { readonly type: string; readonly uid: string }): this;
}

/** Sets these properties on a panel, and the chosen Prometheus as its data source. */
export function framed<Builder extends Framed>(panel: Builder, frame: Frame): Builder {
  return panel
    .title(frame.title)
    .description(frame.description)
    .span(frame.width)
    .height(frame.height)
    .unit(frame.unit)
    .noValue(frame.noValue)
    .datasource(CHOSEN);
}

/** The Prometheus that is chosen at the top of the dashboard. */
export const CHOSEN = { type: 'prometheus', uid: '${datasource}' };
