/** Whether a file says what root or this user wants it to say: whoever owns a file, or may write it, decides that. */

/** What of the stats of a file counts here. */
export interface FileStats {
  readonly uid: number;
  readonly mode: number;
  isFile(): boolean;
}

/** Why somebody else could have written it, as the end of a sentence; null where nobody could. */
export function whyNotTrusted(stats: FileStats, ownUid: number): string | null {
  if (!stats.isFile()) return 'is no file';
  if (stats.uid !== 0 && stats.uid !== ownUid) {
    return `belongs to the user ${stats.uid}; expected root or the gate's own user, ${ownUid}`;
  }
  if ((stats.mode & 0o022) === 0) return null;
  return `can be written by others (mode ${(stats.mode & 0o777).toString(8)}); expected 640 or 600`;
}
