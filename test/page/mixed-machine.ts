import { cardUuid } from '../../src/model/card.js';
import type { AuditEntry } from '../../src/model/ports/audit.js';
import type { Snapshot } from '../../src/model/snapshot.js';
import {
  cannotSay,
  container,
  docker,
  gpus,
  job,
  processOn,
  row,
  seen,
  snapshot,
  uuidOf,
  value,
} from '../occupancy/make.js';

const AT_MS = Date.parse('2026-11-29T13:42:07.000Z');
const ago = (minutes: number): number => AT_MS - minutes * 60_000;
const used = (mib: number) => ({ memoryUsedMib: value(mib) });

/** Eight cards that cover all states, with recent decisions about them. */
export function mixedMachine(but: Partial<Snapshot> = {}): Snapshot {
  const principal = { 'tuneplane.principal': 'console' };
  const train = job('train-17', [0, 1], { createdAtMs: ago(134) });
  const tune = job('tune-lora-3', [4], { createdAtMs: ago(9) });
  return snapshot({
    startedAtMs: AT_MS,
    endedAtMs: AT_MS + 90,
    gpus: gpus([
      row(0, used(71_233)),
      row(1, { ...used(70_918), health: { rowRemapPending: value('Yes') } }),
      row(2),
      row(3),
      row(4, used(38_402)),
      row(5, used(12_870)),
      row(6, { health: { recoveryAction: value('Reset'), eccUncorrected: value('3') } }),
      row(7, { memoryUsedMib: cannotSay }),
    ]),
    processes: seen([
      ...[0, 1, 4].map((card) =>
        processOn(card, { pid: 3100 + card, name: '/opt/venv/bin/python', memoryMib: 38_000 }),
      ),
      processOn(5, { name: '/usr/bin/python3', memoryMib: 12_866 }),
    ]),
    docker: docker(
      { ...train, labels: { ...train.labels, ...principal } },
      { ...tune, labels: { ...tune.labels, ...principal } },
      container('jupyter-lab', { pinned: { kind: 'some', ids: [uuidOf(5)] } }),
    ),
    exclusions: [
      {
        uuid: uuidOf(3),
        reason: 'Fan replacement',
        since: new Date(ago(47)).toISOString(),
        principal: 'operator',
        until: new Date(ago(-73)).toISOString(),
      },
    ],
    ...but,
  });
}

/** Oldest first. */
export const MIXED_DECISIONS: readonly Partial<AuditEntry>[] = [
  {
    at: at(134),
    runId: 'train-17',
    cards: [0, 1].map(uuidOf),
    detail: 'all of them are joined by NV or better, aligned, consecutive',
  },
  { at: at(61), runId: 'train-16', outcome: 'image_not_found', detail: 'registry.local/train:1.3: manifest unknown' },
  {
    at: at(47),
    action: 'exclude',
    principal: 'operator',
    runId: null,
    outcome: 'excluded',
    detail: 'Fan replacement',
    count: null,
    cards: [uuidOf(3)],
  },
  { at: at(9), runId: 'tune-lora-3', count: 1, cards: [uuidOf(4)], detail: 'keeps the largest island whole' },
  ...Array.from({ length: 23 }, (_, ask) => ({
    at: at(2 - ask / 12),
    runId: 'big-eval',
    outcome: 'wait',
    count: 4,
    detail: '8 cards, 1 free; 3 held by jobs (cards 0,1: train-17, card 4: tune-lora-3); 1 used from outside (card 5)',
  })),
];

function at(minutesAgo: number): string {
  return new Date(ago(minutesAgo)).toISOString();
}

/** Markup and script in every field with foreign text: a name, a label, the driver's words. */
export const INJECTION = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>`;

export function hostileMachine(): Snapshot {
  const { startedAtMs } = mixedMachine();
  return snapshot({
    startedAtMs,
    gpus: gpus([
      row(0, { name: INJECTION, memoryUsedMib: value(20_000) }),
      row(1, { uuid: cardUuid(INJECTION), health: { recoveryAction: value(INJECTION) } }),
      row(2),
    ]),
    processes: seen([processOn(0, { name: INJECTION })]),
    docker: docker(
      job('a', [2], {
        labels: { 'tuneplane.run_id': INJECTION, 'tuneplane.principal': INJECTION, [INJECTION]: INJECTION },
      }),
      container(INJECTION, { pinned: { kind: 'some', ids: [uuidOf(0)] } }),
    ),
    exclusions: [{ uuid: uuidOf(2), reason: INJECTION, since: 'never', principal: INJECTION, until: null }],
  });
}
