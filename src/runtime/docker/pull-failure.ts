/** What a failed pull says about the image, by status codes: the messages differ between engines (20.10 to 29). */

import type Docker from 'dockerode';
import { z } from 'zod';
import { askDocker } from '../../docker/ask-docker.js';
import { askVersion } from '../../docker/engine-facts.js';
import type { ImageAnswer } from '../../model/ports/hands.js';
import type { Clock } from '../../model/ports/outside.js';
import type { ImageReference } from './image-reference.js';
import type { AuthConfig } from './registry-auth.js';

export interface Failure {
  /** The engine's status; 200 where the failure came within the progress, which has no status of its own. */
  readonly status: number;
  readonly words: string;
}

const ASK_MS = 10_000;

/**
 * 400, 404 and 501 are verdicts on the name or the kind of image. Anything else may be a problem of the registry, or that
 * there is no image for this machine, which 20.10 reports within the progress: then the engine is asked what the registry
 * has.
 */
export async function explainPullFailure(
  failure: Failure,
  reference: ImageReference,
  authconfig: AuthConfig | undefined,
  { docker, clock }: { readonly docker: Docker; readonly clock: Clock },
): Promise<ImageAnswer> {
  if (isFinal(failure.status)) return notFound(failure.words);
  if (failure.status >= 400 && failure.status < 500) return { kind: 'failed', daemonMessage: asTold(failure.words) };
  const asked = await askDocker(ASK_MS, (signal) => inspectInRegistry(docker, reference, authconfig, signal), clock);
  if (asked.kind === 'answered' && isFinal(asked.status)) return notFound(failure.words);
  const found = asked.kind === 'answer' ? inRegistry.safeParse(asked.value) : null;
  if (found?.success !== true) return { kind: 'failed', daemonMessage: asTold(failure.words) };
  const why = await whyNotHere(found.data, docker);
  return why === null ? { kind: 'failed', daemonMessage: asTold(failure.words) } : notFound(`${why}: ${failure.words}`);
}

/** For an image's inspect and for a pull. */
export function isFinal(status: number): boolean {
  return status === 400 || status === 404 || status === 501;
}

export function notFound(words: string): ImageAnswer {
  return { kind: 'not_found', daemonMessage: asTold(words) };
}

/** Null where the registry's answer gives no reason why this machine could not have the image. */
async function whyNotHere(
  { Descriptor, Platforms }: z.infer<typeof inRegistry>,
  docker: Docker,
): Promise<string | null> {
  if (/\.manifest\.v1\+/.test(Descriptor?.MediaType ?? ''))
    return 'the image is of schema 1, which engines no longer take';
  const engine = await askVersion(docker);
  if (engine.kind === 'blind' || engine.value.os === '' || engine.value.arch === '') return null;
  const { os, arch } = engine.value;
  const offered = (Platforms ?? []).map(({ os: system, architecture }) => `${system}/${architecture}`);
  const takes = new Set([arch, ...(ALSO_RUNS[arch] ?? [])].map((each) => `${os}/${each}`));
  if (offered.length === 0 || offered.some((each) => takes.has(each))) return null;
  return `there is no image for this machine (${os}/${arch}), only for ${[...new Set(offered)].slice(0, 8).join(', ')}`;
}

/** What an engine accepts besides its own architecture (containerd, platforms/compare.go). */
const ALSO_RUNS: Readonly<Record<string, readonly string[]>> = { amd64: ['386'], arm64: ['arm'] };

/** `GET /distribution/{name}/json`: the engine looks the image up in its registry without pulling it. */
function inspectInRegistry(
  docker: Docker,
  { name, version }: ImageReference,
  authconfig: AuthConfig | undefined,
  abortSignal: AbortSignal,
): Promise<unknown> {
  const image = `${name}${version.startsWith('sha256:') ? '@' : ':'}${version}`;
  const request = {
    path: `/distribution/${image}/json`,
    method: 'GET',
    abortSignal,
    ...(authconfig === undefined ? {} : { authconfig }),
    statusCodes: { 200: true, 404: 'not found', 500: 'server error' },
  };
  return new Promise((resolve, reject) => {
    docker.modem.dial(request, (error, body) => (error ? reject(error) : resolve(body)));
  });
}

const inRegistry = z.object({
  Descriptor: z
    .object({ mediaType: z.string().optional(), MediaType: z.string().optional() })
    .nullish()
    .transform((found) => ({ MediaType: found?.mediaType ?? found?.MediaType })),
  Platforms: z.array(z.object({ os: z.string().default(''), architecture: z.string().default('') })).nullish(),
});

const MOST_CHARACTERS = 300;

/**
 * Something that poses as a registry may be any service that the machine can reach and the caller cannot, and Docker quotes
 * its whole answer if it is not a registry's. So no body is passed on, and of other messages only what explains the failure.
 */
export function asTold(words: string): string {
  const body = words.toLowerCase().indexOf('body: ');
  const told = body === -1 ? words : `${words.slice(0, body)}body: (not shown)`;
  return told.length > MOST_CHARACTERS ? `${told.slice(0, MOST_CHARACTERS)}…` : told;
}
