import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The stand-in's log of its runs, read while they run. */
export interface StandInLog {
  /** For `STAND_IN_LOG`. */
  readonly path: string;
  /** The kinds of query so far, in order: `--query-gpu`, `-L`. */
  asked(): readonly string[];
  /** The complete argument lists of all runs so far, in order. */
  commands(): readonly (readonly string[])[];
  /** The number of current runs of each kind, those that have neither ended nor been reaped. */
  alive(): ReadonlyMap<string, number>;
  /** Samples every 20 ms until `stop`, which returns the highest number of simultaneous runs of one kind. */
  watch(): { stop(): number };
  remove(): void;
}

/** A log in a folder of its own. A killed run leaves no end in it, so the kernel is asked whether it still exists. */
export function createStandInLog(): StandInLog {
  const folder = mkdtempSync(join(tmpdir(), 'stand-in-log-'));
  const path = join(folder, 'runs.jsonl');

  function alive(): ReadonlyMap<string, number> {
    const lines = read(path);
    const ended = new Set(lines.filter(({ event }) => event === 'end').map(({ pid }) => pid));
    const counts = new Map<string, number>();
    for (const { event, pid, argv } of lines) {
      if (event !== 'start' || ended.has(pid) || !existsSync(`/proc/${pid}`)) continue;
      counts.set(kindOf(argv), (counts.get(kindOf(argv)) ?? 0) + 1);
    }
    return counts;
  }

  return {
    path,
    asked: () => read(path).flatMap(({ event, argv }) => (event === 'start' ? [kindOf(argv)] : [])),
    commands: () => read(path).flatMap(({ event, argv }) => (event === 'start' && argv !== undefined ? [argv] : [])),
    alive,
    watch() {
      let most = 0;
      const look = (): void => {
        most = Math.max(most, ...alive().values());
      };
      const looking = setInterval(look, 20);
      return {
        stop() {
          clearInterval(looking);
          return most;
        },
      };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

interface Line {
  readonly event: 'start' | 'end';
  readonly pid: number;
  readonly argv?: readonly string[];
}

/** Complete lines only: the last may be partial. */
function read(path: string): readonly Line[] {
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const whole = text.split('\n').slice(0, -1);
  return whole.map((line) => JSON.parse(line) as Line);
}

/** `-i 0,1 --query-gpu=…` is the same kind of query as `--query-gpu=…`. */
function kindOf(argv: readonly string[] = []): string {
  const words = argv[0] === '-i' ? argv.slice(2) : argv;
  return words[0]?.replace(/=.*$/, '') ?? '';
}
