import { expect, test } from 'vitest';
import type { JudgeRules } from '../../src/model/occupancy.js';
import type { Snapshot } from '../../src/model/snapshot.js';
import { judge } from '../../src/occupancy/judge.js';
import {
  blind,
  cannotSay,
  container,
  docker,
  gpus,
  job,
  olderJob,
  processOn,
  remember,
  row,
  rowsUpTo,
  rules,
  seen,
  snapshot,
  uuidOf,
  value,
} from './make.js';

test.each<[string, Partial<Snapshot>, Partial<JudgeRules>, string]>([
  ['an idle machine', {}, {}, '8 cards, 8 free.'],
  ['one card', { gpus: gpus(rowsUpTo(1)) }, {}, '1 card, 1 free.'],
  ['no card at all', { gpus: gpus([]) }, {}, 'No card is known.'],
  [
    'jobs and outside use',
    {
      docker: docker(
        job('train-17', [0, 1]),
        job('eval', [5]),
        container('jupyter', { pinned: { kind: 'some', ids: ['6'] } }),
      ),
      processes: seen([processOn(4)]),
    },
    {},
    '8 cards, 3 free; 3 held by jobs (cards 0,1: train-17, card 5: eval); 2 used from outside (card 4: python pid 4242, 812 MiB, card 6: given to container jupyter).',
  ],
  [
    'a double booking',
    { gpus: gpus(rowsUpTo(1)), docker: docker(job('a', [0]), job('b', [0])) },
    {},
    '1 card, 0 free; 1 held by jobs (card 0: a and b).',
  ],
  [
    'memory that nobody is listed for',
    { gpus: gpus([row(0, { memoryUsedMib: value(593) })]) },
    {},
    '1 card, 0 free; 1 used from outside (card 0: 593 MiB in use and no process listed). Memory in use counts at or above the limit of 512 MiB (TUNEPLANE_MEMORY_BUSY_MIB).',
  ],
  [
    'sick, excluded and unreadable cards',
    {
      gpus: gpus([
        row(0, { health: { eccUncorrected: value('1') } }),
        row(1),
        row(2, { memoryUsedMib: cannotSay }),
        row(3, { short: true }),
        row(4),
      ]),
      exclusions: [
        { uuid: uuidOf(1), reason: 'fan is loud', since: '2026-11-29T12:00:00.000Z', principal: 'ann', until: null },
        {
          uuid: uuidOf(4),
          reason: 'burn-in',
          since: '2026-11-29T12:00:00.000Z',
          principal: 'kim',
          until: '2026-11-29T14:00:00.000Z',
        },
      ],
    },
    {},
    '5 cards, 0 free; 1 unhealthy (card 0: 1 uncorrected ECC error since the driver was loaded); 2 excluded (card 1: fan is loud, by ann, card 4: burn-in, by kim until 2026-11-29T14:00:00.000Z); 2 unknown (card 2: the driver does not say how much memory is in use, card 3: the driver printed its row incompletely).',
  ],
  [
    'a missing card whose index another has',
    { gpus: gpus([row(0)], { driverCount: 1 }), remembered: [remember(1, 0)] },
    {},
    `2 cards, 1 free; 1 unhealthy (card ${uuidOf(1)}: the driver does not list it any more; it was card 0 at 00000000:11:00.0).`,
  ],
  [
    'a blind driver',
    { gpus: blind(), processes: blind(), docker: docker(job('a', [1])), remembered: [remember(0), remember(1)] },
    {},
    '2 cards, 0 free; 1 held by jobs (card 1: a); 1 unknown (card 0: not seen). The cards could not be seen (exit): nvidia-smi exited 9. The process list is not available (exit): nvidia-smi exited 9.',
  ],
  [
    'containers that cannot be listed',
    { gpus: gpus(rowsUpTo(2)), docker: blind('unavailable', 'connect ENOENT /var/run/docker.sock') },
    {},
    '2 cards, 0 free; 2 unknown (cards 0,1: whether a job holds it is not known). The containers could not be listed (unavailable): connect ENOENT /var/run/docker.sock.',
  ],
  [
    'what was remarked on',
    { gpus: gpus(rowsUpTo(1)), docker: docker(olderJob('job-0', [17])) },
    { excludeCards: ['9'] },
    '1 card, 1 free. Container job-0 (running) claims card 17, which is not here. TUNEPLANE_EXCLUDE_CARDS names 9, which is not here.',
  ],
])('%s is explained in plain words', (_says, look, set, words) => {
  expect(judge(snapshot(look), rules(set)).explain).toBe(words);
});
