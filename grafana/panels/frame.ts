/** What every panel has, so that none is without it. */

/** Words, place and unit of a panel. */
export interface Frame {
  readonly title: string;
  /** What is shown, and what it means when it is bad. */
  readonly description: string;
  /** Of 24 columns. */
  readonly width: number;
  readonly height: number;
  /** Grafana's name of it; `none` for plain numbers. */
  readonly unit: string;
  /** What stands there when there is nothing to show; no word that could be read as "fine". */
  readonly noValue: string;
}

/** The builders of all panel types are alike in this. */
interface Framed {
  title(title: string): this;
  description(description: string): this;
  span(width: number): this;
  height(height: number): this;
  unit(unit: string): this;
  noValue(words: string): this;
  datasource(reference: { readonly type: string; readonly uid: string }): this;
}

/** Puts the frame around a panel, and points it to the chosen Prometheus. */
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
