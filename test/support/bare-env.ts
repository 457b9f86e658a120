import { tmpdir } from 'node:os';
import { dirname } from 'node:path';

/**
 * The environment of a person with Node and npm, without this project's settings and those of the npm that runs the tests;
 * where packages come from is kept.
 */
export function bareEnv(): Record<string, string> {
  const kept = /^(npm_config_(registry|cache)|https?_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE)$/i;
  return {
    PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
    HOME: process.env['HOME'] ?? tmpdir(),
    ...Object.fromEntries(
      Object.entries(process.env).flatMap(([name, value]) =>
        kept.test(name) && value !== undefined ? [[name, value]] : [],
      ),
    ),
  };
}
