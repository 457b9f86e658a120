/** Realistic callers: they post, retry at another gate, hang up, and remove what has ended. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Engine } from '../support/docker/engine.js';
import type { Gate } from '../support/gate.js';
import { jobToPost } from '../support/jobs-to-post.js';
import type { Party } from './party.js';
import type { Dice } from './random.js';
import type { Watcher } from './watcher.js';

export interface CallerReport {
  /** By decision or code; `no answer` where the connection broke or the caller hung up. */
  readonly answers: Record<string, number>;
  /** Admitted, but unknown to Docker. */
  readonly withoutContainer: string[];
  /** Pages that showed a card free, to compare with what really ran. */
  readonly free: { readonly uuid: string; readonly fromMs: number; readonly toMs: number }[];
  /** How often a run was removed by a DELETE, or may have been: after each it may be executed once more. */
  readonly deletes: Map<string, number>;
}

interface Admitted {
  readonly decision?: string;
  readonly code?: string;
  readonly replayed?: boolean;
  readonly run?: { readonly container_id: string };
}

export interface CallerParts {
  readonly party: Party;
  readonly engine: Engine;
  readonly watcher: Watcher;
  readonly dice: Dice;
  readonly going: () => boolean;
}

/** Runs until `going` returns false. Several of them share a report. */
export async function caller(name: string, report: CallerReport, parts: CallerParts): Promise<void> {
  const { dice, party, going } = parts;
  const mine: string[] = [];
  for (let turn = 0; going(); turn++) {
    const again = mine.length > 0 && dice.chance(35);
    const runId = again ? dice.one(mine) : `${name}-${turn}`;
    if (!again) mine.push(runId);
    if (mine.length > 12) mine.shift();
    const gate = party.any((up) => dice.one(up));
    if (dice.chance(25) && again) await remove(runId, gate, report, parts);
    else if (dice.chance(20)) {
      // One run posted to two gates at once.
      const other = party.any((up) => dice.one(up));
      await Promise.all([gate, other].map((each) => ask(runId, each, report, parts)));
    } else await ask(runId, gate, report, parts);
    if (dice.chance(30)) await readPage(gate, report);
    await sleep(dice.between(5, 150));
  }
}

async function ask(
  runId: string,
  gate: Gate,
  report: CallerReport,
  { dice, engine, watcher }: CallerParts,
): Promise<void> {
  // Count and duration follow from the name: the same run is the same request.
  const number = Buffer.from(runId).reduce((sum, byte) => (sum * 31 + byte) % 1000, 7);
  const count = [1, 1, 1, 2, 2, 3, 4, 0][number % 8] ?? 1;
  // One in five ends at once.
  const seconds = number % 5 === 0 ? 0 : 0.2 + (number % 15) / 10;
  const hangUp = dice.chance(12) ? AbortSignal.timeout(dice.between(1, 400)) : undefined;
  const body = jobToPost(runId, count, { command: ['sleep', String(seconds)], ulimits: { memlock: 65_536 } });
  const answer = await gate
    .call('/admit', { method: 'POST', body, ...(hangUp === undefined ? {} : { signal: hangUp }) })
    .catch(() => null);
  const said = (answer?.body ?? {}) as Admitted;
  const outcome =
    answer === null
      ? 'no answer'
      : said.replayed === true
        ? 'replayed'
        : (said.decision ?? said.code ?? `status ${answer.status}`);
  report.answers[outcome] = (report.answers[outcome] ?? 0) + 1;
  const id = said.decision === 'admitted' ? said.run?.container_id : undefined;
  if (id === undefined || watcher.lives.has(id)) return;
  await watcher.note(id).catch(async (error: unknown) => {
    // The engine may be shutting down, or another caller removed the run meanwhile.
    if ((error as { statusCode?: number }).statusCode !== 404) return;
    await sleep(200);
    const there = await engine.docker.listContainers({ all: true }).catch(() => null);
    if (there?.some(({ Id }) => Id === id) === false && !watcher.lives.has(id))
      report.withoutContainer.push(`${runId} ${id}`);
  });
}

async function remove(
  runId: string,
  gate: Gate,
  { deletes }: CallerReport,
  { engine, watcher }: CallerParts,
): Promise<void> {
  const found = await engine.docker
    .listContainers({ all: true, filters: { name: [`^/tuneplane-${runId}$`] }, abortSignal: AbortSignal.timeout(2000) })
    .catch(() => []);
  for (const { Id } of found) await watcher.note(Id).catch(() => {});
  const answer = await gate.call(`/runs/${runId}`, { method: 'DELETE' }).catch(() => null);
  if (answer === null || answer.status === 204 || answer.status === 503) {
    deletes.set(runId, (deletes.get(runId) ?? 0) + 1);
  }
}

async function readPage(gate: Gate, report: CallerReport): Promise<void> {
  const page = await gate.cards().catch(() => null);
  if (page === null || page.observed_at === null) return;
  const fromMs = Date.parse(page.observed_at);
  for (const { uuid, state } of page.cards) {
    if (state === 'free' && uuid !== null) report.free.push({ uuid, fromMs, toMs: Date.now() });
  }
}
