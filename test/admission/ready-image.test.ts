import { expect, test } from 'vitest';
import { readyImage } from '../../src/admission/ready-image.js';
import { systemClock as clock } from '../../src/time/system-clock.js';
import { job, plainRequest } from '../support/jobs.js';

test('a request for an image that no job may have is denied, and told which part of it', async () => {
  const detail = 'the image evil:1 sets LD_PRELOAD in its own environment, which no job may have';
  const hands = { ensureImage: async () => ({ kind: 'refused', detail }) as const };
  const meter = { phase: () => undefined };
  expect(await readyImage(job('train', plainRequest('evil:1')), { hands, clock, meter }, 0)).toEqual({
    kind: 'refused',
    code: 'policy_denied',
    detail: `/container/image: ${detail}`,
    errors: [{ pointer: '/container/image', detail }],
  });
});
