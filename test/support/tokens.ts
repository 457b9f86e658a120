import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { newToken } from '../../src/cli/token.js';

/** A tokens file and its tokens, as `gpu-gate token new` makes them. */
export interface Tokens<Name extends string> {
  /** For `TUNEPLANE_TOKENS_FILE`. */
  readonly path: string;
  of(name: Name): string;
  /** The header with this principal's token. */
  as(name: Name): { readonly authorization: string };
  /** Rewrites the file without this principal's line. */
  revoke(name: Name): void;
}

/**
 * Makes a token for each name, with the given roles: `{ console: 'admit,read' }`. The file is removed with the test file.
 */
export function makeTokens<Name extends string>(roles: Readonly<Record<Name, string>>): Tokens<Name> {
  const folder = mkdtempSync(join(tmpdir(), 'tokens-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'tokens');
  const made = new Map(Object.entries<string>(roles).map(([name, list]) => [name, makeToken(name, list)]));
  const write = (): void => {
    const lines = Array.from(made.values(), ({ line }) => `${line}\n`);
    writeFileSync(path, lines.join(''), { mode: 0o600 });
  };
  write();
  const tokens = new Map(Array.from(made, ([name, { token }]) => [name, token]));
  // Also of a principal whose line was removed: a test expects the refusal.
  const of = (name: Name): string => tokens.get(name) ?? '';
  return {
    path,
    of,
    as: (name) => ({ authorization: `Bearer ${of(name)}` }),
    revoke(name) {
      made.delete(name);
      write();
    },
  };
}

function makeToken(name: string, roles: string): { readonly token: string; readonly line: string } {
  const made = newToken(name, roles);
  if (made.kind === 'refused') throw new Error(made.problems.join('; '));
  return made;
}
