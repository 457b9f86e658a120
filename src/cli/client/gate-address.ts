/** The address of the gate that a command queries. */

import { readAddress } from '../../settings/addresses.js';
import { URL_VARIABLE } from '../../settings/client-variables.js';
import { TABLE } from '../../settings/table.js';

/** `written` is for people. */
export type GateAddress =
  | { readonly kind: 'http'; readonly url: URL; readonly written: string }
  | { readonly kind: 'unix'; readonly path: string; readonly written: string };

/** An address, or what is wrong with the given one. */
export type FoundAddress = GateAddress | { readonly kind: 'problem'; readonly detail: string };

/** The flag, else `TUNEPLANE_URL`, else the first address of `TUNEPLANE_LISTEN`, else the default address of a gate. */
export function gateAddress(flag: string | undefined, env: Readonly<Record<string, string | undefined>>): FoundAddress {
  if (flag !== undefined) return read(flag, '--url');
  if (env[URL_VARIABLE]) return read(env[URL_VARIABLE], URL_VARIABLE);
  const [first = ''] = (env[TABLE.listen.name] ?? TABLE.listen.standard ?? '').split(',');
  // Whether TLS is used there depends on that file; without TLS (rare), set TUNEPLANE_URL.
  return read(first.trim(), TABLE.listen.name, env[TABLE.webConfigFile.name] ? 'https' : 'http');
}

function read(text: string, from: string, scheme: 'http' | 'https' = 'http'): FoundAddress {
  const problem: FoundAddress = {
    kind: 'problem',
    detail: `${from} is ${JSON.stringify(text)}: expected http://host:port, https://host:port, host:port or unix:/path`,
  };
  if (/^https?:\/\//.test(text)) {
    const url = URL.canParse(text) ? new URL(text) : null;
    if (url === null) return problem;
    // Anyone who lists processes would see a password on the command line.
    if (url.username !== '' || url.password !== '') {
      return {
        kind: 'problem',
        detail: `${from} has a name or password in it: expected neither; a token comes from a file`,
      };
    }
    return { kind: 'http', url, written: url.href.replace(/\/$/, '') };
  }
  const address = readAddress(text);
  if (address === null || (address.kind === 'tcp' && address.port === 0)) return problem;
  if (address.kind === 'unix') return { ...address, written: `unix:${address.path}` };
  // A wildcard address is valid for listening only; connect to loopback instead.
  const host = { '0.0.0.0': '127.0.0.1', '::': '::1' }[address.host] ?? address.host;
  const written = `${scheme}://${host.includes(':') ? `[${host}]` : host}:${address.port}`;
  return URL.canParse(written) ? { kind: 'http', url: new URL(written), written } : problem;
}
