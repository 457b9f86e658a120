/** `gpu-gate check`: whether cards are fit for work, in one line and one exit code, for the prolog of a job and for cron. */

import { lookOnce } from '../doctor/look-once.js';
import { readSettings } from '../settings/settings.js';
import { systemClock } from '../time/system-clock.js';
import type { GateOptions } from './client/ask-gate.js';
import { checkCards, type CheckedCard } from './client/card-check.js';
import { shownCards } from './client/gate-shapes.js';
import { failureOf } from './client/problem-words.js';
import { fail, reachGate } from './client/reach-gate.js';
import { EXIT } from './terminal/exit-codes.js';
import { complain, say, sayJson } from './terminal/say.js';

export interface CheckOptions extends GateOptions {
  /** Indices or uuids, several with commas. */
  readonly cards?: string;
  readonly json?: boolean;
}

/** Asks the running gate. Where none answers it looks itself, by the settings of the environment. */
export async function check(options: CheckOptions): Promise<void> {
  const names = options.cards === undefined ? null : options.cards.split(',').map((name) => name.trim());
  if (names?.some((name) => !/^(?:\d{1,4}|GPU-[0-9a-f-]{1,64})$/i.test(name)) === true) {
    complain(`--cards ${options.cards}: expected indices or uuids (GPU-…), several with commas`);
    process.exitCode = EXIT.usage;
    return;
  }
  const gate = reachGate(options);
  if (gate === null) return;
  const said = await gate.ask('/cards');
  if (said.kind === 'answered') {
    const read = said.status === 200 ? shownCards.safeParse(said.body) : null;
    if (read === null || !read.success) return fail(failureOf(said));
    const { gpus } = read.data.probes;
    const blind = gpus?.ok === false ? (gpus.detail ?? 'nvidia-smi failed') : null;
    return tell(checkCards(read.data.cards, names, blind), `says the gate at ${gate.written}`, options);
  }
  const cards = await ownLook();
  if (cards !== null) tell(checkCards(cards, names), 'by a look of its own, since no gate answers', options);
}

async function ownLook(): Promise<readonly CheckedCard[] | null> {
  const read = readSettings(process.env, [], { terminal: process.stderr.isTTY });
  if (read.kind === 'problems') {
    complain(...read.problems);
    process.exitCode = EXIT.usage;
    return null;
  }
  const cards = await lookOnce(read.settings, process.env, systemClock);
  return cards.map(({ index, uuid, state, unhealthy, excluded, unknownBecause }) => ({
    index,
    uuid,
    state,
    unhealthy,
    excluded,
    unknown_because: unknownBecause,
  }));
}

function tell({ kind, says }: ReturnType<typeof checkCards>, who: string, { json }: CheckOptions): void {
  if (json === true) sayJson({ result: kind, says, who }, 0);
  else say(`${kind}: ${says} (${who})`);
  process.exitCode = { ok: EXIT.done, unfit: EXIT.unfit, unknown: EXIT.undecided }[kind];
}
