/** `$$`, `$NAME`, or `${NAME}` with Compose's operators after the name. */
const VARIABLE = /\$(?:\$|(?<bare>[A-Z_]\w*)|\{(?<name>[A-Z_]\w*)(?::(?<how>[-+?])(?<word>[^}]*))?\})/gi;

/**
 * Interpolates variables as Compose does (its specification, "Interpolation"): `:-` a default, `:+` a replacement for a set
 * value, `:?` an error without a value. Throws for that, and for a variable with neither value nor default, where Compose
 * warns.
 */
export function interpolate(text: string, env: Readonly<Record<string, string>>): string {
  return text.replaceAll(VARIABLE, (all: string, ...rest: readonly unknown[]) => {
    const { bare, name = bare, how, word = '' } = rest.at(-1) as Readonly<Record<string, string | undefined>>;
    if (name === undefined) return all.slice(1);
    const value = env[name] ?? '';
    if (how === '+') return value === '' ? '' : word;
    if (value !== '') return value;
    if (how === '-') return word;
    throw new Error(how === '?' ? `${name}: ${word}` : `${name} is not set and has no default`);
  });
}

/** The names of all variables in a text. */
export function variablesOf(text: string): readonly string[] {
  const names = [...text.matchAll(VARIABLE)].flatMap(({ groups }) => groups?.['bare'] ?? groups?.['name'] ?? []);
  return [...new Set(names)];
}
