/** Starts a test container with a card, since nothing but a start shows whether an engine can provide one. */

import { randomUUID } from 'node:crypto';
import type Docker from 'dockerode';
import { askDocker } from './ask-docker.js';
import { inWords } from './errors.js';

/** `no_image`: could not be tried, because the image is missing. `in_doubt`: the engine gave no clear answer. */
export type Tried =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused'; readonly detail: string }
  | { readonly kind: 'no_image' }
  | { readonly kind: 'in_doubt'; readonly detail: string };

const CREATE_MS = 10_000;
const START_MS = 20_000;
const REMOVE_MS = 10_000;

/**
 * Creates a container of a local image with this one card, starts it for a moment and removes it. It carries no claim; a
 * gate that looks at that moment sees the card in use from outside. Its command is `true`; an image without `true` does no
 * harm, since the card is attached before the command is looked up.
 */
export async function tryDeviceRequest(docker: Docker, image: string, card: string): Promise<Tried> {
  const body = {
    name: `gpu-gate-doctor-${randomUUID()}`,
    Image: image,
    Entrypoint: ['true'],
    NetworkDisabled: true,
    HostConfig: {
      NetworkMode: 'none',
      SecurityOpt: ['no-new-privileges'],
      DeviceRequests: [{ Driver: 'nvidia', DeviceIDs: [card], Capabilities: [['gpu']] }],
    },
  };
  const created = await askDocker(CREATE_MS, (abortSignal) => docker.createContainer({ ...body, abortSignal }));
  if (created.kind === 'answered' && created.status === 404) return { kind: 'no_image' };
  if (created.kind !== 'answer') return { kind: 'in_doubt', detail: inWords(created) };
  const container = created.value;
  try {
    const started = await askDocker(START_MS, (abortSignal) => container.start({ abortSignal }));
    if (started.kind === 'answer') return { kind: 'accepted' };
    if (started.kind !== 'answered') return { kind: 'in_doubt', detail: inWords(started) };
    return /exec: "true"/.test(started.message) ? { kind: 'accepted' } : { kind: 'refused', detail: started.message };
  } finally {
    // We created it a moment ago and it is no job: it may be removed even while it ends.
    await askDocker(REMOVE_MS, (abortSignal) => container.remove({ force: true, v: true, abortSignal }));
  }
}
