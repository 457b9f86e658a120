/** Removes claims: of jobs that have ended or never ran, and on an operator's command of jobs whose state is unknown. */

import type { GiveUpAnswer, Removable, RemoveAnswer } from '../../model/ports/hands.js';
import type { ContainerState } from '../../model/snapshot.js';
import type { ClaimsFolder, Entry } from './claims-folder.js';
import type { Liveness } from './liveness.js';
import type { Life } from './other-namespaces.js';

export interface RemovalParts {
  readonly claims: ClaimsFolder;
  readonly liveness: Liveness;
}

/** How often to retry when another process changed the claim first. States only move forward, so fewer retries suffice. */
const TRIES = 10;

/**
 * Checks the claim right before, and removes it if it is in state `only` and has not changed. The rename is the step that
 * decides: afterwards a created claim cannot be started any more, and a claim that was started meanwhile is not renamed.
 */
export async function remove(id: string, only: Removable, parts: RemovalParts): Promise<RemoveAnswer> {
  for (let tries = 0; tries < TRIES; tries++) {
    const entry = await parts.claims.byId(id);
    if (entry === null) return { kind: 'gone' };
    const { state, removable } = MEANS[await lifeOf(entry, parts)];
    // Completes a removal whose gate died halfway, whatever the state was before.
    if (entry.standing.kind !== 'removing' && removable !== only) return { kind: 'left', state };
    if (await takeAway(entry, parts.claims)) return { kind: 'removed' };
  }
  return inDoubt(new Error(`the claim ${id} keeps changing`));
}

/**
 * The same for a job that is out of reach, and for no other. If its launcher lives, the files that it writes to are gone.
 */
export async function giveUp(id: string, parts: RemovalParts): Promise<GiveUpAnswer> {
  for (let tries = 0; tries < TRIES; tries++) {
    const entry = await parts.claims.byId(id);
    if (entry === null || entry.standing.kind === 'removing') return { kind: 'gone' };
    const life = await lifeOf(entry, parts);
    if (life !== 'out_of_reach') return { kind: 'in_reach', why: howItStands(entry, life) };
    if (await takeAway(entry, parts.claims)) return { kind: 'given_up' };
  }
  return inDoubt(new Error(`the claim ${id} keeps changing`));
}

/** The claim's current state tells. */
export function inDoubt(error: unknown): { readonly kind: 'in_doubt'; readonly detail: string } {
  return { kind: 'in_doubt', detail: (error as Error).message };
}

type LifeOrNone = Life | 'not_started';

const MEANS: Readonly<Record<LifeOrNone, { readonly state: ContainerState; readonly removable: Removable | null }>> = {
  not_started: { state: 'created', removable: 'created' },
  lives: { state: 'running', removable: null },
  out_of_reach: { state: 'running', removable: null },
  ended: { state: 'exited', removable: 'ended' },
};

async function lifeOf({ claim: { id }, standing }: Entry, { liveness }: RemovalParts): Promise<LifeOrNone> {
  if (standing.kind !== 'run') return 'not_started';
  return (await liveness.of([{ id, run: standing }])).get(id) ?? 'lives';
}

/** False where it has changed by now. */
async function takeAway(entry: Entry, claims: ClaimsFolder): Promise<boolean> {
  const removing = { ...entry, standing: { kind: 'removing' } } as const;
  if (entry.standing.kind !== 'removing' && !(await claims.move(entry, removing.standing))) return false;
  await claims.clear(removing);
  return true;
}

function howItStands({ claim: { name } }: Entry, life: Exclude<LifeOrNone, 'out_of_reach'>): string {
  switch (life) {
    case 'lives':
      return `${name} can be seen from here, and it lives; end it first, and then remove it`;
    case 'ended':
      return `${name} can be seen from here, and it has ended; remove it as any other`;
    case 'not_started':
      return `${name} was not started yet; it is started or removed by the gate that created it`;
    default:
      return life satisfies never;
  }
}
