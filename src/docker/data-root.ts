import type Docker from 'dockerode';

/** Docker's own data folder, which no job is given; null where the engine does not say within `limitMs`. */
export async function dockerRootDir(docker: Docker, limitMs = 5000): Promise<string | null> {
  try {
    const info = docker.info.bind(docker) as (options: { abortSignal: AbortSignal }) => Promise<unknown>;
    const answer = await info({ abortSignal: AbortSignal.timeout(limitMs) });
    const folder = (answer as { DockerRootDir?: unknown } | null)?.DockerRootDir;
    return typeof folder === 'string' && folder.startsWith('/') ? folder : null;
  } catch {
    return null;
  }
}
