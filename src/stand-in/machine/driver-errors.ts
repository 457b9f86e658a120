/** The wording of each driver error. */

import type { CardError } from './words.js';

/**
 * An error of the library: in a column, in a message about a card's handle (with the blank lines that follow it), and as
 * exit code.
 */
export interface ErrorWords {
  word: string;
  sentence: string;
  rc: number;
}

/**
 * How the program reports each error; wording, blank lines and exit codes from captures, for the last three from NVML's
 * error numbers.
 */
export const DRIVER_ERRORS: Readonly<Record<CardError, ErrorWords>> = {
  lost: { word: 'GPU is lost', sentence: 'GPU is lost.  Reboot the system to recover this GPU\n\n', rc: 15 },
  reset_required: {
    word: 'GPU requires reset',
    sentence: 'A GPU reset must occur before this GPU can be used again.\n\n.',
    rc: 255,
  },
  unknown: { word: 'Unknown Error', sentence: 'Unknown Error', rc: 255 },
  access_blocked: { word: 'GPU access blocked by the operating system', sentence: 'Unknown Error', rc: 17 },
  no_permission: { word: 'Insufficient Permissions', sentence: 'Insufficient Permissions', rc: 4 },
  insufficient_power: {
    word: 'Insufficient External Power',
    sentence:
      'Unable to communicate with GPU because it is insufficiently powered.\nThis may be because not all required external power cables are\nattached, or the attached cables are not seated properly.\n\n',
    rc: 8,
  },
  not_found: { word: 'Not Found', sentence: 'Not Found', rc: 6 },
  timeout: { word: 'Timeout', sentence: 'Timeout', rc: 10 },
  inforom_corrupted: { word: 'Corrupted infoROM', sentence: 'Corrupted infoROM', rc: 14 },
  driver_not_loaded: { word: 'Driver Not Loaded', sentence: 'Driver Not Loaded', rc: 9 },
};
