import type Docker from 'dockerode';
import { askDocker } from './ask-docker.js';

/** Docker's own data folder, which no job is given; null where the engine does not say within `limitMs`. */
export async function dockerRootDir(docker: Docker, limitMs = 5000): Promise<string | null> {
  const info = docker.info.bind(docker) as (options: { abortSignal: AbortSignal }) => Promise<unknown>;
  const asked = await askDocker(limitMs, (abortSignal) => info({ abortSignal }));
  const folder = asked.kind === 'answer' ? (asked.value as { DockerRootDir?: unknown } | null)?.DockerRootDir : null;
  return typeof folder === 'string' && folder.startsWith('/') ? folder : null;
}
