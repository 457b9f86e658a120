import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Engine } from '../support/docker/engine.js';
import { PROJECT } from './project.js';

/**
 * `docker build` of the project's committed files, filtered by `.dockerignore`. It uses the engine's own network, and the
 * base image must be present. Rejects with the build's output when a step fails.
 */
export async function buildImage(engine: Engine, tag: string, args: Readonly<Record<string, string>>): Promise<void> {
  const git = await promisify(execFile)('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: PROJECT });
  const src = git.stdout.split('\0').filter((path) => path !== '' && existsSync(join(PROJECT, path)));
  const output = await engine.docker.buildImage(
    { context: PROJECT, src },
    { t: tag, buildargs: args, networkmode: 'host', abortSignal: AbortSignal.timeout(400_000) },
  );
  const said: string[] = [];
  for await (const chunk of output) said.push(chunk.toString());
  const lines = said
    .join('')
    .split('\n')
    .filter((line) => line !== '');
  const events = lines.map((line) => JSON.parse(line) as { readonly stream?: string; readonly error?: string });
  const failure = events.find(({ error }) => error !== undefined)?.error;
  if (failure === undefined) return;
  const words = events.map(({ stream = '' }) => stream).join('');
  throw new Error(`the image could not be built: ${failure}\n${words.slice(-4000)}`);
}
