/** The process runtime from the last build, in the pid namespace of this program, for `runtime-in-namespace.ts`. */

import { readlinkSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** @param {string} file */
const built = (file) => import(new URL(`../../dist/${file}`, import.meta.url).href);
const { openProcessRuntime } = await built('runtime/process/open.js');
const { systemClock } = await built('time/system-clock.js');

/** @param {unknown} answer */
const say = (answer) => console.log(JSON.stringify(answer));

const folder = process.argv[2] ?? '';
const opened = await openProcessRuntime({ folder, clock: systemClock, environment: process.env });
say(opened.kind === 'open' ? { kind: 'open', namespace: readlinkSync('/proc/self/ns/pid') } : opened);

// Until the test closes our standard input, or dies.
for await (const line of createInterface({ input: process.stdin })) {
  const { part, method, args } = JSON.parse(line);
  say(await opened[part][method](...args));
}
