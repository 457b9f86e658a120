/** The colours of the dashboards. Grafana's ground is dark unless somebody changes it, so these are the ones for dark. */

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

/** For numbers of which any above 0 asks for somebody. */
export function badAboveZero(): ThresholdsConfigBuilder {
  return new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps([
    { value: null, color: GOOD },
    { value: 1, color: BAD },
  ]);
}

/** For numbers that are neither good nor bad. */
export function plain(): ThresholdsConfigBuilder {
  return new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps([{ value: null, color: PLAIN }]);
}

/** A colour of its own for each series, the same on every panel that names it the same. */
export function byName(): FieldColorBuilder {
  return new FieldColorBuilder().mode(FieldColorModeId.PaletteClassicByName);
}

/** For panels whose colours come from the value mappings. */
export function byMapping(): FieldColorBuilder {
  return new FieldColorBuilder().mode(FieldColorModeId.Thresholds);
}
