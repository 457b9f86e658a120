/** The order of the test files. */

import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that wait long for something real, the longest first: if one of them began last, the whole run would wait for it
 * alone. All others follow in vitest's order.
 */
const SLOWEST = [
  'image/image',
  'lock/lease-trouble',
  'soak/storm',
  'page/page',
  'cli/pack',
  'ci/installation',
  'ci/build',
  'trouble/docker-claims',
  'e2e/left-behind',
  'e2e/nvidia-smi-trouble',
  'trouble/growth',
  'grafana/alerts',
  'probe/nvidia-smi/stand-in',
  'probe/nvidia-smi/nvidia-smi',
  'cli/client',
  'trouble/docker-lists',
  'trouble/redis-replies',
  'lock/lease',
  'e2e/redis-trouble',
  'e2e/process-runtime',
  'doctor/doctor',
  'e2e/docker-down',
].map((name) => `/test/${name}.test.ts`);

export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const at = SLOWEST.findIndex((name) => moduleId.endsWith(name));
      return at === -1 ? SLOWEST.length : at;
    };
    // oxlint-disable-next-line unicorn/no-array-sort -- vitest's own, which gives a new list
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other));
  }
}
