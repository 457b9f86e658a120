/**
 * The message of whatever was thrown. Several errors in one (a host name with several addresses fails with an
 * AggregateError, whose own message is empty) are joined; an error without a message is given by its name.
 */
export function errorWords(thrown: unknown): string {
  if (thrown instanceof AggregateError && thrown.errors.length > 0) return thrown.errors.map(errorWords).join('; ');
  return thrown instanceof Error ? thrown.message || thrown.name : String(thrown);
}
