/** Words for numeric values. */

import { MappingType, type ValueMap } from '@grafana/grafana-foundation-sdk/dashboard';

/** The word for one value, and its colour. */
export type Word = readonly [value: number, text: string, colour: string];

/** The value mapping of these words. */
export function words(...each: readonly Word[]): ValueMap {
  const options = each.map(([value, text, color], index) => [String(value), { text, color, index }] as const);
  return { type: MappingType.ValueToText, options: Object.fromEntries(options) };
}
