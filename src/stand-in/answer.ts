import { type Request, kindOf, understand } from './arguments.js';
import { chosenFields } from './fields/field-table.js';
import { help, version } from './help.js';
import { listing } from './listing.js';
import { machineFault } from './machine-faults.js';
import { type Dialect, dialectOf } from './machine/dialect.js';
import type { Machine, RawAnswer } from './machine/machine.js';
import { type Output, sentence } from './output.js';
import { rows } from './rows.js';
import { table } from './table.js';
import { topology } from './topology.js';

/** The behaviour of one run: steps in order, then the exit code. Nothing follows a `hang`. */
export interface Answer {
  steps: readonly Step[];
  rc: number;
}

/** `print` is one write to standard output, so that a reader sees whole rows. */
export type Step = { kind: 'wait'; ms: number } | { kind: 'print'; text: string } | { kind: 'hang' };

/** What the real program would do on this machine, given these arguments (without its own name). */
export function answer(machine: Machine, argv: readonly string[], now: Date): Answer {
  const dialect = dialectOf(machine.driver);
  const request = understand(argv, dialect);
  const raw = machine.raw[kindOf(request)];
  if (hangsAtOnce(machine, request)) return { steps: [...delay(machine, request), { kind: 'hang' }], rc: 0 };
  const output = replaced(tell(machine, request, dialect, now), raw);
  const place = hangingCard(machine, request, dialect);
  const written = output.rows.filter(({ card }) => place === null || card < place).map(({ text }) => text);
  const hangs = place !== null && output.rows.some(({ card }) => card >= place);
  const texts = [output.header, ...written, hangs ? '' : output.end].filter((text) => text !== '');
  return {
    steps: [
      ...delay(machine, request),
      ...texts.map((text) => ({ kind: 'print' as const, text })),
      ...(hangs ? [{ kind: 'hang' as const }] : []),
    ],
    rc: output.rc,
  };
}

function tell(machine: Machine, request: Request, dialect: Dialect, now: Date): Output {
  if (request.kind === 'refused') return sentence(request.text, request.rc);
  const fault = machineFault(machine, dialect, request.kind === 'list');
  if (fault !== null) return fault;
  switch (request.kind) {
    case 'gpu':
    case 'apps':
    case 'remapped':
      return rows(machine, request, dialect, now);
    case 'list':
      return listing(machine, dialect, request.ids);
    case 'topo':
      return topology(machine, dialect);
    case 'help':
      return help(request, dialect);
    case 'table':
      return table(machine, dialect, now);
    case 'version':
      return version(machine);
    default:
      return request satisfies never;
  }
}

function replaced(output: Output, raw: RawAnswer | undefined): Output {
  switch (raw?.kind) {
    case undefined:
      return output;
    case 'verbatim':
      return sentence(raw.stdout, raw.rc);
    case 'cut':
      return { ...output, rows: output.rows.slice(0, raw.rows), end: raw.end, rc: raw.rc };
    default:
      return raw satisfies never;
  }
}

function delay({ delay_ms }: Machine, request: Request): Step[] {
  const ms = typeof delay_ms === 'number' ? delay_ms : (delay_ms[kindOf(request)] ?? 0);
  return ms > 0 ? [{ kind: 'wait', ms }] : [];
}

function hangsAtOnce({ hang }: Machine, request: Request): boolean {
  return hang?.at === 'init' && (hang.kinds?.includes(kindOf(request)) ?? true);
}

/** The position of the card at which the run hangs, or null. Without `kinds`, only a query of changing readings hangs. */
function hangingCard({ hang }: Machine, request: Request, dialect: Dialect): number | null {
  if (hang === null || hang.at === 'init') return null;
  if (hang.kinds !== undefined) return hang.kinds.includes(kindOf(request)) ? hang.at : null;
  if (request.kind !== 'gpu') return null;
  const fields = chosenFields('gpu', request.fields, dialect);
  return typeof fields !== 'string' && fields.some(({ about }) => about === 'reading') ? hang.at : null;
}
