import { endJob, newClaimsFolder, processRuntime } from '../../support/process-jobs.js';
import { runtimeContract } from '../../support/runtime-contract.js';

const folder = newClaimsFolder();

runtimeContract('the process runtime', async () => ({
  ...(await processRuntime(folder)),
  image: '',
  end: (id) => endJob(folder, id),
  stop: async () => {},
}));
