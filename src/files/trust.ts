/** Whether only root or this user can determine a file's content, by its owner and its write permissions. */

/** The parts of a file's stats that matter here. */
export interface FileStats {
  readonly uid: number;
  readonly mode: number;
  isFile(): boolean;
}

/** Why someone else could have written it, as the end of a sentence; null where nobody could. */
export function whyNotTrusted(stats: FileStats, ownUid: number): string | null {
  if (!stats.isFile()) return 'is no file';
  if (stats.uid !== 0 && stats.uid !== ownUid) {
    return `belongs to the user ${stats.uid}; expected root or the gate's own user, ${ownUid}`;
  }
  if ((stats.mode & 0o022) === 0) return null;
  return `can be written by others (mode ${(stats.mode & 0o777).toString(8)}); expected 640 or 600`;
}
