import { renameSync } from 'node:fs';
import { kernelName } from '../../../src/runtime/process/kernel.js';
import { claimOf, endJob, newClaimsFolder, processRuntime } from '../../support/process-jobs.js';
import { runtimeContract } from '../../support/runtime-contract.js';

const folder = newClaimsFolder();

runtimeContract(
  'the process runtime',
  async () => ({
    // As a gate in a container has it, which does not see what is beside it.
    ...(await processRuntime(folder, { kernel: (await kernelName()).replace(/\d+$/, '1') })),
    image: '',
    end: (id) => endJob(folder, id),
    stop: async () => {},
  }),
  (id) => {
    const { prefix, standing } = claimOf(folder, id);
    if (standing.kind !== 'run') throw new Error('expected a job that was started');
    const { kernel, pid, startTicks } = standing;
    const named = (name: string): string => `${prefix}.run.${name}.${pid}.${startTicks}`;
    renameSync(named(kernel), named(kernel.replace(/\d+$/, '2')));
    process.kill(-pid, 'SIGKILL');
  },
);
