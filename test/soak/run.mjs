/** `npm run soak -- --minutes 10 --seed 7`: runs the storm for the given time and prints its report. */
import { spawn } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '5' }, seed: { type: 'string' } } });
const minutes = Number(values.minutes);
if (!(minutes > 0) || (values.seed !== undefined && !/^\d+$/.test(values.seed))) {
  console.error(`expected --minutes above 0 and --seed a whole number, got ${JSON.stringify(values)}`);
  process.exit(2);
}
const storm = spawn(process.execPath, ['test/support/running/bring-up.mjs', 'test/soak'], {
  stdio: 'inherit',
  env: {
    ...process.env,
    SOAK_SECONDS: String(minutes * 60),
    ...(values.seed === undefined ? {} : { SOAK_SEED: values.seed }),
  },
});
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.on(signal, () => storm.kill(signal));
storm.once('exit', (code) => {
  process.exitCode = code ?? 1;
});
