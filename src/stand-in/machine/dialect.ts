/** The differences between the output of driver branches. */

/**
 * What changed between driver branches, apart from the names of fields. Between the captured branches (470, 535, 550, 590,
 * 595) the exact border is a guess.
 */
export interface Dialect {
  /** The number before the first point: 418 to 610. */
  branch: number;
  /** The text for a value that the card does not have. */
  noValue: '[N/A]' | '[Not Supported]';
  /** Between `GPU` and the bus id in an error about a handle. */
  beforeBusId: ' ' | '';
  /** Exit code where the versions of driver and library differ. */
  mismatchRc: 18 | 255;
  /** Whether the driver's own memory is part of the total; older branches do not report it at all. */
  countsReserved: boolean;
  /** MiB are rounded down up to 535 and up from 550 on. */
  toMib: (mib: number) => number;
  /** Before the words of the fabric columns: `state  Completed` is a mistake of the branches 535 to 555. */
  fabricPrefix: { state: string; status: string };
  /** What the fabric columns print on a machine without NVSwitch. */
  noFabric: string | null;
  /** Clock reasons that print "no value" where the driver gave an error. */
  quietReasons: 'none' | 'all' | 'all but thermal and brake';
}

/** The dialect of a driver version. */
export function dialectOf(driver: string): Dialect {
  const branch = Number.parseInt(driver, 10);
  const slip = branch < 560;
  return {
    branch,
    noValue: branch < 460 ? '[Not Supported]' : '[N/A]',
    beforeBusId: branch < 535 ? ' ' : '',
    mismatchRc: branch < 535 ? 255 : 18,
    countsReserved: branch >= 510,
    toMib: (mib) => (branch < 550 ? Math.floor(wholeBytes(mib)) : Math.ceil(wholeBytes(mib))),
    fabricPrefix: slip ? { state: 'state  ', status: 'status ' } : { state: '', status: '' },
    noFabric: slip ? null : 'N/A',
    quietReasons: quietReasons(branch),
  };
}

/** A library's version is the driver's without its third part: `590.48.01` has `590.48`. */
export function libraryVersion(driver: string): string {
  return driver.split('.').slice(0, 2).join('.');
}

function quietReasons(branch: number): Dialect['quietReasons'] {
  if (branch < 535) return 'none';
  return branch < 550 ? 'all' : 'all but thermal and brake';
}

/** Sums of fractions carry rounding errors far below a byte, which must not round a full MiB up to the next. */
function wholeBytes(mib: number): number {
  return Math.round(mib * 1024 * 1024) / (1024 * 1024);
}
