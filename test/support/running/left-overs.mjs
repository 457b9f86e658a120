/** Finds what a test run left on the machine, by the one folder below which all tests work. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Every process of a test run has this variable in its environment; its value is the run's folder. */
export const ROOT_VARIABLE = 'GPU_GATE_TEST_ROOT';

/**
 * Ends what still runs, unmounts what is still mounted, removes the folder, and returns what it found. Processes that end by
 * themselves within `graceMs` do not count, and neither do files, since the folder is removed anyway.
 *
 * @param {string} root
 * @param {number} [graceMs]
 * @returns {Promise<string[]>}
 */
export async function clearAway(root, graceMs = 3000) {
  const left = await whatStays(() => processesOf(root), graceMs);
  const told = left.map((each) => `process ${each.pid}: ${each.command}`);
  for (let round = 0; round < 5; round += 1) {
    for (const each of topmost(processesOf(root))) kill(each.pid);
    await whatStays(() => processesOf(root), 1000);
  }
  told.push(...processesOf(root).map((each) => `process ${each.pid}, which SIGKILL does not end: ${each.command}`));

  for (const mount of mountsBelow(root).toReversed()) {
    told.push(`mount ${mount}`);
    spawnSync('umount', ['-l', mount]);
  }
  try {
    rmSync(root, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    told.push(`folder ${root}: ${String(error)}`);
  }
  return told;
}

/**
 * @template T
 * @param {() => T[]} look
 * @param {number} withinMs
 * @returns {Promise<T[]>}
 */
async function whatStays(look, withinMs) {
  const deadline = performance.now() + withinMs;
  while (look().length > 0 && performance.now() < deadline) await sleep(50);
  return look();
}

/**
 * The processes of a run, and all their descendants: a container's processes have another environment.
 *
 * @param {string} root
 */
export function processesOf(root) {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => processOf(Number(name), root));
  const alive = all.filter((each) => each !== null).filter((each) => each.pid !== process.pid);
  const ours = new Set(alive.filter((each) => each.marked).map((each) => each.pid));
  for (let before = -1; before !== ours.size;) {
    before = ours.size;
    for (const each of alive) if (ours.has(each.parent)) ours.add(each.pid);
  }
  return alive.filter((each) => ours.has(each.pid));
}

/**
 * Those whose parent is not among them. Ended first, since a parent's end lets many a child end in order.
 *
 * @param {ReturnType<typeof processesOf>} processes
 */
function topmost(processes) {
  return processes.filter((each) => processes.every((other) => other.pid !== each.parent));
}

/**
 * Null when it is gone, or a zombie. Layout of stat: proc(5); its second field may contain spaces and brackets.
 *
 * @param {number} pid
 * @param {string} root
 */
function processOf(pid, root) {
  try {
    const [state, parent] = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    if (state === 'Z' || state === 'X') return null;
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
    const folder = readlinkSync(`/proc/${pid}/cwd`);
    const marked =
      environment.split('\0').includes(`${ROOT_VARIABLE}=${root}`) || command.includes(root) || folder.startsWith(root);
    return { pid, parent: Number(parent), command: command.slice(0, 200), marked };
  } catch {
    return null;
  }
}

/**
 * SIGKILL, to a process that may be gone by now.
 *
 * @param {number} pid
 */
export function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself in the meantime.
  }
}

/**
 * In the order of mounting. The fifth field is the mount point, with spaces as \040 (proc(5)).
 *
 * @param {string} root
 */
function mountsBelow(root) {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  const places = lines.map((line) => (line.split(' ')[4] ?? '').replaceAll('\\040', ' '));
  return places.filter((place) => place === root || place.startsWith(`${root}/`));
}
