/** The colours of the dashboards. Grafana's default theme is dark, so these are the ones for a dark background. */

import {
  FieldColorBuilder,
  FieldColorModeId,
  ThresholdsConfigBuilder,
  ThresholdsMode,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { STATE_COLOURS } from '../../src/model/colours.js';

export const GOOD = STATE_COLOURS.free.dark;
export const BAD = STATE_COLOURS.unhealthy.dark;
export const DOUBTFUL = STATE_COLOURS.unknown.dark;
export const PLAIN = STATE_COLOURS.excluded.dark;

/** For numbers where any value above 0 needs attention. */
export function badAboveZero(): ThresholdsConfigBuilder {
  return new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps([
    { value: null, color: GOOD },
    { value: 1, color: BAD },
  ]);
}

/** For neutral numbers. */
export function plain(): ThresholdsConfigBuilder {
  return new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps([{ value: null, color: PLAIN }]);
}

/** A fixed colour per series, the same on every panel with that series. */
export function byName(): FieldColorBuilder {
  return new FieldColorBuilder().mode(FieldColorModeId.PaletteClassicByName);
}

/** For panels whose colours come from the value mappings. */
export function byMapping(): FieldColorBuilder {
  return new FieldColorBuilder().mode(FieldColorModeId.Thresholds);
}
