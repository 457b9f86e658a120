import type Docker from 'dockerode';
import { askDocker } from '../../docker/ask-docker.js';
import { inWords, toDockerTrouble } from '../../docker/errors.js';
import type { Hands, ImageAnswer } from '../../model/ports/hands.js';
import type { Clock, Log } from '../../model/ports/outside.js';
import { inTime } from '../../time/in-time.js';
import { ALWAYS_HIDDEN, moreToHide, namesIn, refusal } from './image-env.js';
import { isImageId, parseImageReference, type ImageReference } from './image-reference.js';
import { inspectImage } from './inspect-image.js';
import { asTold, explainPullFailure, isFinal, notFound } from './pull-failure.js';
import { parsePullProgress } from './pull-progress.js';
import type { FindAuth } from './registry-auth.js';

export interface ImagesOptions {
  readonly docker: Docker;
  readonly clock: Clock;
  readonly log: Log;
  readonly findAuth: FindAuth;
  /** For the check whether an image is present. */
  readonly inspectTimeoutMs?: number;
  /** A pull without progress for this long is cancelled. */
  readonly stallMs?: number;
  /** The maximum number of pulls in parallel; further requests are told to try again. */
  readonly mostPulls?: number;
}

/** Docker itself fetches three layers per pull in parallel. */
const MOST_PULLS = 8;
/** How many failures to remember that no caller has been told yet. */
const MOST_UNHEARD = 100;

/** One pull, which goes on without its callers. */
interface Pull {
  readonly ended: Promise<ImageAnswer>;
  waiting: number;
  /** Set when it has failed with no caller left to tell. */
  unheard: { readonly answer: ImageAnswer; readonly at: number } | null;
}

/** A failure that no caller asked about for this long says nothing about the registry any more. */
const UNHEARD_MS = 5 * 60_000;

export interface Images {
  readonly ensure: Hands['ensureImage'];
  /** The variables that a job must not inherit from this image, as of its last check. */
  hiddenFrom(image: string): readonly string[];
}

/**
 * Makes sure that images are present; one pull per image at a time. The failure of a pull goes to all callers that wait for
 * it or, if all have been answered `pulling`, to the first that asks again; the next request then tries anew.
 */
export function createImages(options: ImagesOptions): Images {
  const { docker, clock, log, inspectTimeoutMs = 10_000, mostPulls = MOST_PULLS } = options;
  const pulls = new Map<string, Pull>();
  /** Only for images with more variables to remove than the fixed list. */
  const hidden = new Map<string, readonly string[]>();

  const isHere = async (image: string): Promise<ImageAnswer | 'absent'> => {
    const asked = await askDocker(inspectTimeoutMs, (signal) => inspectImage(docker, image, signal), clock);
    if (asked.kind === 'answer') return fit(image, asked.value);
    if (asked.kind !== 'answered') return { kind: 'unavailable', detail: inWords(asked) };
    if (asked.status === 404) return 'absent';
    return isFinal(asked.status) ? notFound(asked.message) : { kind: 'failed', daemonMessage: asTold(asked.message) };
  };

  /** Whether jobs may be started from this image. */
  const fit = (image: string, inspected: unknown): ImageAnswer => {
    const found = namesIn(inspected);
    if (found === null) return { kind: 'unavailable', detail: `the inspect of the image ${image} was invalid` };
    if (moreToHide(found).length > 0) hidden.set(image, moreToHide(found));
    else hidden.delete(image);
    const detail = refusal(image, found);
    return detail === null ? { kind: 'present' } : { kind: 'refused', detail };
  };

  const pullAndCheck = async (image: string, reference: ImageReference): Promise<ImageAnswer> => {
    const failure = await pullImage(reference, options);
    if (failure !== null) return failure;
    const here = await isHere(image);
    return here === 'absent' ? { kind: 'failed', daemonMessage: 'the pull ended and the image is not there' } : here;
  };

  const startPull = (image: string, reference: ImageReference): Pull => {
    const pull: Pull = { ended: pullAndCheck(image, reference), waiting: 0, unheard: null };
    pulls.set(image, pull);
    void report(image, pull);
    return pull;
  };

  const report = async (image: string, pull: Pull): Promise<void> => {
    const answer = await pull.ended;
    const pulled = answer.kind === 'present' || answer.kind === 'refused';
    if (pulled) log.info({ image }, 'image pulled');
    else log.warn({ image, answer }, 'image could not be pulled');
    if (pulled || pull.waiting > 0) pulls.delete(image);
    else pull.unheard = { answer, at: clock.monotonic() };
    const unheard = [...pulls].filter(([, each]) => each.unheard !== null);
    if (unheard.length > MOST_UNHEARD) pulls.delete(unheard[0]?.[0] ?? '');
  };

  const underWay = (): number => [...pulls.values()].filter(({ unheard }) => unheard === null).length;

  const ensure: Images['ensure'] = async (image, waitMs) => {
    const reference = parseImageReference(image);
    if (reference === null) return { kind: 'not_found', daemonMessage: `invalid reference format: "${image}"` };
    const here = await isHere(image);
    const known = pulls.get(image);
    if (known !== undefined && known.unheard !== null) {
      pulls.delete(image);
      if (here === 'absent' && clock.monotonic() - known.unheard.at < UNHEARD_MS) return known.unheard.answer;
    }
    if (here !== 'absent') return here;
    if (isImageId(image))
      return notFound(`there is no image with the id ${image} here, and no registry has images by their ids`);
    const mine = pulls.get(image);
    if (mine === undefined && underWay() >= mostPulls) return { kind: 'pulling' };
    return waitFor(mine ?? startPull(image, reference), waitMs, clock);
  };

  return { ensure, hiddenFrom: (image) => [...ALWAYS_HIDDEN, ...(hidden.get(image) ?? [])] };
}

async function waitFor(pull: Pull, waitMs: number, clock: Clock): Promise<ImageAnswer> {
  pull.waiting += 1;
  try {
    return (await inTime(pull.ended, waitMs, clock))?.value ?? { kind: 'pulling' };
  } finally {
    pull.waiting -= 1;
  }
}

/** Null when the pull's progress ended without an error; the caller then checks whether the image is present. */
async function pullImage(reference: ImageReference, options: ImagesOptions): Promise<ImageAnswer | null> {
  const { docker, clock, findAuth, stallMs = 5 * 60_000 } = options;
  const { registry, name, version } = reference;
  const auth = await findAuth(registry);
  if (auth.kind === 'problem') return { kind: 'failed', daemonMessage: auth.detail };
  const authconfig = auth.kind === 'credentials' ? auth.authconfig : undefined;

  const stalled = new AbortController();
  let callOff = clock.after(stallMs, () => stalled.abort());
  const progress = () => {
    callOff();
    callOff = clock.after(stallMs, () => stalled.abort());
  };
  try {
    // Always with a tag: without one Docker pulls every tag of the repository.
    const stream = await docker.createImage({
      ...(authconfig === undefined ? {} : { authconfig }),
      fromImage: name,
      tag: version,
      abortSignal: stalled.signal,
    });
    const failure = await parsePullProgress(stream, progress);
    return failure === null ? null : await explainPullFailure(failure, reference, authconfig, options);
  } catch (error) {
    if (stalled.signal.aborted) return { kind: 'failed', daemonMessage: `no progress for ${stallMs / 1000} s` };
    const trouble = toDockerTrouble(error);
    if (trouble.kind !== 'answered') return { kind: 'unavailable', detail: inWords(trouble) };
    const failure = { status: trouble.status, words: trouble.message };
    return await explainPullFailure(failure, reference, authconfig, options);
  } finally {
    callOff();
  }
}
