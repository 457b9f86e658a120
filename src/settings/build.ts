/** Which build of the gate this is. */

import { readFileSync } from 'node:fs';

/** For `--version` and `tuneplane_gpu_build_info`. */
export interface Build {
  /** From package.json. */
  readonly version: string;
  /** The commit it was built from; `unknown` where nothing says so. */
  readonly revision: string;
}

/**
 * Reads `package.json`, and the commit from a file `REVISION` that an image build may leave beside it, else from a git
 * checkout.
 */
export function readBuild(packageFolder: URL = new URL('../../', import.meta.url)): Build {
  const read = (name: string): string | null => textOf(new URL(name, packageFolder));
  return { version: versionIn(read('package.json')), revision: read('REVISION') ?? checkedOut(read) ?? 'unknown' };
}

function versionIn(packageJson: string | null): string {
  const parsed: unknown = packageJson === null ? null : JSON.parse(packageJson);
  const known = typeof parsed === 'object' && parsed !== null && 'version' in parsed ? parsed.version : null;
  return typeof known === 'string' ? known : 'unknown';
}

/** The commit that HEAD points to, without running git: `HEAD` holds it, or names the file or the packed line that does. */
function checkedOut(read: (name: string) => string | null): string | null {
  const head = read('.git/HEAD');
  if (head === null || !head.startsWith('ref: ')) return head;
  const ref = head.slice('ref: '.length);
  const packed = read('.git/packed-refs')
    ?.split('\n')
    .find((line) => line.endsWith(` ${ref}`));
  return read(`.git/${ref}`) ?? packed?.split(' ')[0] ?? null;
}

function textOf(file: URL): string | null {
  try {
    return readFileSync(file, 'utf8').trim() || null;
  } catch {
    return null;
  }
}
