/** Whether a job from another pid namespace of this boot still lives, and whether that can be determined from here. */

import type { StartedJob } from './claim-file.js';
import type { EnvironmentSearch } from './environment-search.js';
import { liveProcess, namespaceOf } from './kernel.js';
import { lookBelow, type ProcessBelow, type View } from './processes-below.js';

/** `out_of_reach`: cannot be determined from here. Such a job holds its cards. */
export type Life = 'lives' | 'ended' | 'out_of_reach';

/** For a person. */
export const OUT_OF_REACH =
  'it was started in another pid namespace, which is not visible from here: whether it still lives is unknown';

/** A started job and the id of its claim. */
export interface Asked {
  readonly id: string;
  readonly run: StartedJob;
}

export interface OtherNamespaces {
  of(runs: readonly Asked[]): Promise<ReadonlyMap<string, Life>>;
  /** These are all current claims: forgets what is cached about others. */
  keepOnly(ids: ReadonlySet<string>): void;
}

/** `kernel` is the pid scope of this process (kernel.ts). */
export function createOtherNamespaces(kernel: string, search: EnvironmentSearch): OtherNamespaces {
  const own = namespaceOf(kernel);
  // The pid in our namespace under which a launcher was found: while it lives, /proc need not be scanned again.
  const launchers = new Map<string, number>();

  return {
    async of(runs) {
      const lives = new Map<string, Life>();
      for (const { id, run } of runs) lives.set(id, isStillAt(launchers.get(id), run) ? 'lives' : 'ended');
      // Twice, as within our own namespace: see `leftBehind`.
      for (let walk = 0; walk < 2; walk++) {
        const open = runs.filter(({ id }) => lives.get(id) === 'ended');
        if (open.length === 0) break;
        const view = lookBelow();
        const pids = new Set(view.below.map(({ pid }) => pid));
        for (const { id, run } of open) {
          const { life, launcher } = judge(run, view, own);
          if (launcher !== null) launchers.set(id, launcher);
          lives.set(id, life === 'ended' && (await search.carried(id, pids)) ? 'lives' : life);
        }
      }
      return lives;
    },
    keepOnly(ids) {
      for (const id of launchers.keys()) if (!ids.has(id)) launchers.delete(id);
    },
  };
}

/**
 * The inode number of the initial pid namespace, in which all processes of a machine are visible: PID_NS_INIT_INO in the
 * kernel's include/uapi/linux/nsfs.h, before that PROC_PID_INIT_INO in include/linux/proc_ns.h, the same since Linux 3.8.
 */
const INITIAL = '4026531836';

function isStillAt(pid: number | undefined, { startTicks }: StartedJob): boolean {
  return pid !== undefined && liveProcess(pid)?.startTicks === startTicks;
}

/**
 * What one scan shows about a job, except for its environment, and where its launcher was found. `own` is our own namespace.
 * Exported for its test.
 *
 * The claim names its namespace by inode number. The kernel reuses a number only when nothing refers to the first namespace
 * any more, so none of its processes lives; and it takes the lowest free one (fs/proc/generic.c, proc_alloc_inum), often at
 * once. So a visible process in a namespace of this number means that the claim's namespace lies below ours, or has ended
 * and another has its number. In both cases whatever is left of the job is visible here, and is searched for as in our own
 * namespace. A namespace with our own number needs none of this: its pids are ours, or gone.
 *
 * If no process in it is visible, the namespace is gone, provided that we would see it: from the initial namespace, with a
 * /proc that hides nothing. Its init outlives its other processes, since they are killed with it (pid_namespaces(7)); so no
 * process can be born behind a scan that met none. From any other namespace, one beside or above ours looks the same as one
 * that is gone, and is out of reach.
 *
 * A process whose namespace we may not read may be in any of those below. One further down may be in a namespace that the
 * job created within its own; a session with the job's number proves nothing there, and in doubt the job holds its cards.
 */
export function judge(
  run: StartedJob,
  view: View,
  own: string,
): { readonly life: Life; readonly launcher: number | null } {
  const members = view.below.filter(({ namespace }) => namespace === namespaceOf(run.kernel));
  const unknown = view.below.filter(({ namespace }) => namespace === null);
  const launcher = [...members, ...unknown].find((one) => isLauncher(one, run));
  if (launcher !== undefined) return { life: 'lives', launcher: launcher.pid };
  return { life: withoutLauncher(run, { ...view, members, unknown }, own), launcher: null };
}

function isLauncher({ pids, startTicks }: ProcessBelow, run: StartedJob): boolean {
  return pids.at(-1) === run.pid && startTicks === run.startTicks;
}

interface Sorted extends View {
  /** In the namespace that the claim names. */
  readonly members: readonly ProcessBelow[];
  readonly unknown: readonly ProcessBelow[];
}

function withoutLauncher({ pid }: StartedJob, { below, whole, members, unknown }: Sorted, own: string): Life {
  const seesAll = whole && own === INITIAL;
  if (members.length === 0 && unknown.length === 0) return seesAll ? 'ended' : 'out_of_reach';

  const inSession = ({ sessions }: ProcessBelow): boolean => sessions.slice(1).includes(pid);
  // The kernel does not reuse a session's number while any process of the session exists.
  if (!members.some(({ pids }) => pids.at(-1) === pid)) {
    if (members.some(inSession)) return 'lives';
    const deeper = below.filter(({ pids }) => pids.length > 2);
    if ([...unknown, ...deeper].some(inSession)) return 'out_of_reach';
  }
  return seesAll || (whole && members.length > 0) ? 'ended' : 'out_of_reach';
}
