/** The output of a container, as the engine has it; nothing of it is kept here, so that a slow reader slows the engine's sending. */

import type { IncomingMessage } from 'node:http';
import type Docker from 'dockerode';
import { z } from 'zod';
import { askDocker } from '../../docker/ask-docker.js';
import { inWords } from '../../docker/errors.js';
import type { Books, OutputWanted } from '../../model/ports/books.js';
import type { Clock } from '../../model/ports/outside.js';

const LIMIT_MS = 10_000;

/** Both streams in one, in the order in which the engine sends them. */
export function createOutput({ docker, clock }: { readonly docker: Docker; readonly clock: Clock }): Books['output'] {
  return async ({ id }, wanted, signal) => {
    const inspected = await askDocker(
      LIMIT_MS,
      (abortSignal) => docker.getContainer(id).inspect({ abortSignal }),
      clock,
    );
    const tty = inspectBody.safeParse(inspected.kind === 'answer' ? inspected.value : null).data?.Config.Tty ?? false;
    const asked = await askDocker(
      LIMIT_MS,
      // The limit is for the beginning of the answer: the stream itself ends when the reader goes.
      (giveUp) => openLog(docker, id, wanted, AbortSignal.any([giveUp, signal])),
      clock,
    );
    if (asked.kind === 'answered' && asked.status === 404) return { kind: 'gone' };
    if (asked.kind !== 'answer') return { kind: 'unavailable', detail: inWords(asked) };
    return { kind: 'stream', stream: tty ? asked.value : withoutHeaders(asked.value) };
  };
}

const inspectBody = z.object({ Config: z.object({ Tty: z.boolean().nullish() }) });

/** dockerode's own call reads a log that is not followed into memory as a whole. */
function openLog(docker: Docker, id: string, wanted: OutputWanted, abortSignal: AbortSignal): Promise<IncomingMessage> {
  const request = {
    path: `/containers/${id}/logs?`,
    method: 'GET',
    isStream: true,
    abortSignal,
    options: {
      stdout: true,
      stderr: wanted.stderr,
      follow: wanted.follow,
      tail: wanted.tail === null ? 'all' : String(wanted.tail),
    },
    statusCodes: { 200: true, 404: 'no such container', 500: 'server error' },
  };
  return new Promise((resolve, reject) => {
    docker.modem.dial(request, (error, answer) => (error ? reject(error) : resolve(answer as IncomingMessage)));
  });
}

const HEADER_BYTES = 8;

/**
 * The engine sends frames: 8 bytes (which stream, 0, 0, 0, length), then as much text. Passed on piece by piece as it comes; a frame
 * that is larger than memory would be no harm.
 */
export async function* withoutHeaders(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let header = Buffer.alloc(0);
  let left = 0;
  for await (const chunk of stream) {
    let rest = chunk;
    while (rest.length > 0) {
      if (left === 0) {
        const missing = HEADER_BYTES - header.length;
        header = Buffer.concat([header, rest.subarray(0, missing)]);
        rest = rest.subarray(missing);
        if (header.length < HEADER_BYTES) break;
        left = header.readUInt32BE(4);
        header = Buffer.alloc(0);
        continue;
      }
      const text = rest.subarray(0, left);
      rest = rest.subarray(text.length);
      left -= text.length;
      yield text;
    }
  }
}
