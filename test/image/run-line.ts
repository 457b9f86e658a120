import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from './project.js';

/** A parsed `docker run` line. */
export interface RunLine {
  /** By flag, without its dashes; a repeated flag has several values. */
  readonly flags: ReadonlyMap<string, readonly string[]>;
  readonly image: string;
}

/**
 * The line at the top of the Dockerfile, which an operator copies. Throws when there is none, or it cannot be parsed: every
 * flag but `-d` takes a value after a space.
 */
export function shippedRunLine(): RunLine {
  const comment = /^#( +docker run -d (?:.*\\\n#)+.*)$/m.exec(readFileSync(join(PROJECT, 'Dockerfile'), 'utf8'))?.[1];
  if (comment === undefined) throw new Error('the Dockerfile shows no docker run line');
  const words = [...comment.replaceAll(/\\\n#/g, '').matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)];
  const [, , , ...rest] = words.map(([, double, single, bare]) => double ?? single ?? bare ?? '');
  const image = rest.pop() ?? '';
  const flags = new Map<string, readonly string[]>();
  for (let at = 0; at < rest.length; at += 2) {
    const [flag = '', value = ''] = rest.slice(at, at + 2);
    if (!flag.startsWith('-') || value === '') throw new Error(`expected a flag and its value, got ${flag} ${value}`);
    const name = flag.replace(/^-+/, '');
    flags.set(name, [...(flags.get(name) ?? []), value]);
  }
  return { flags, image };
}
