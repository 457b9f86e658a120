/** Opens the state folder in its argument, prints the result as one line of JSON, and runs until it is killed. */
import { openStateFolder } from '../../src/state/state-folder.js';
import { systemClock } from '../../src/time/system-clock.js';

const quiet = (): void => undefined;
const opened = await openStateFolder({
  candidates: process.argv.slice(2),
  instanceId: null,
  clock: systemClock,
  log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
});
console.log(JSON.stringify(opened));
setInterval(quiet, 60_000);
