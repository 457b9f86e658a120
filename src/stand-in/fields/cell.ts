/** The text of one cell, or the error word if the card's fault affects it. */

import { DRIVER_ERRORS } from '../machine/driver-errors.js';
import type { Field, Seen } from './field.js';

/** What one column of one row prints. */
export function cell(field: Field, seen: Seen, units: boolean): string {
  const { card, dialect } = seen;
  const instead = field.names.map((name) => card.columns[name]).find((text) => text !== undefined);
  if (instead !== undefined) return instead;
  const error = errorWord(field, seen);
  if (error !== null) return isQuiet(field, seen) ? dialect.noValue : error;
  const value = field.value(seen);
  if (value === null) return dialect.noValue;
  if (typeof value === 'string') return value;
  return units && field.unit !== null ? `${value.toFixed(field.digits)} ${field.unit}` : value.toFixed(field.digits);
}

/** The error word in brackets where the card's fault affects this column, else null. */
export function errorWord(field: Pick<Field, 'about'>, { card: { fault } }: Pick<Seen, 'card'>): string | null {
  if (fault?.kind !== 'queries' || field.about === 'machine') return null;
  if (fault.which === 'dynamic' && field.about === 'card') return null;
  return `[${DRIVER_ERRORS[fault.error].word}]`;
}

/** Columns of single clock reasons show "no value" instead of the driver's error; which ones differs by branch. */
function isQuiet({ names }: Field, { dialect }: Seen): boolean {
  const reason = /^clocks_(?:event|throttle)_reasons\.(.*)$/.exec(names[0])?.[1];
  if (reason === undefined || reason === 'active' || reason === 'supported') return false;
  switch (dialect.quietReasons) {
    case 'none':
      return false;
    case 'all':
      return true;
    case 'all but thermal and brake':
      return reason !== 'hw_thermal_slowdown' && reason !== 'hw_power_brake_slowdown';
    default:
      return dialect.quietReasons satisfies never;
  }
}
