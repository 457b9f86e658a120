import type Docker from 'dockerode';
import { z } from 'zod';
import { askDocker } from '../../docker/ask-docker.js';
import { LABEL } from '../../model/labels.js';
import type { Books } from '../../model/ports/books.js';
import type { Clock } from '../../model/ports/outside.js';
import type { SeenContainer } from '../../model/snapshot.js';
import { inspectImage } from './inspect-image.js';

/** More than there are runs on a machine; beyond this the cache forgets, and asks again. */
const KNOWN_AT_MOST = 1000;

/**
 * Recognizes copies by their image: `docker commit` writes a container's labels into the new image, time of admission
 * included, and no two attempts share that time. (The image's name is weaker evidence: a commit may reuse the name that the
 * job was started from.) An image exists as long as a container of it does, and neither changes, so each is inspected once.
 */
export function createIsCopy(options: {
  readonly docker: Docker;
  readonly clock: Clock;
  readonly inspectTimeoutMs: number;
}): Books['isCopy'] {
  const { docker, clock, inspectTimeoutMs } = options;
  const known = new Map<string, boolean>();

  const ask = async ({ id, labels }: SeenContainer): Promise<boolean | null> => {
    const inspect = (abortSignal: AbortSignal) => docker.getContainer(id).inspect({ abortSignal });
    const container = containerBody.safeParse(await answerOf(askDocker(inspectTimeoutMs, inspect, clock)));
    if (!container.success) return null;
    const { Image } = container.data;
    const image = imageBody.safeParse(
      await answerOf(askDocker(inspectTimeoutMs, (signal) => inspectImage(docker, Image, signal), clock)),
    );
    if (!image.success) return null;
    const own = image.data.Config?.Labels ?? {};
    return [LABEL.runId, LABEL.admittedAt].every((label) => Boolean(labels[label]) && own[label] === labels[label]);
  };

  return async (container) => {
    const before = known.get(container.id);
    if (before !== undefined) return before;
    const verdict = await ask(container);
    if (known.size >= KNOWN_AT_MOST) known.clear();
    if (verdict !== null) known.set(container.id, verdict);
    return verdict;
  };
}

async function answerOf(asked: ReturnType<typeof askDocker<unknown>>): Promise<unknown> {
  const answer = await asked;
  return answer.kind === 'answer' ? answer.value : null;
}

const containerBody = z.object({ Image: z.string().min(1) });
const imageBody = z.object({
  Config: z.object({ Labels: z.record(z.string(), z.string()).nullish() }).nullish(),
});
