import { expect, test } from 'vitest';
import { ownPaths } from '../../src/settings/own-paths.js';
import { readSettings } from '../../src/settings/settings.js';
import { TABLE } from '../../src/settings/table.js';

const settingsOf = (env: Record<string, string>) => {
  const answer = readSettings(env, [], { terminal: false });
  if (answer.kind === 'problems') throw new Error(answer.problems.join('\n'));
  return answer.settings;
};

const ofPaths = Object.values(TABLE).filter(({ placeholder }) => ['file', 'folder', 'program'].includes(placeholder));

test.each(ofPaths.map(({ name }) => [name]))('no job may mount what %s names', (name) => {
  expect(ownPaths(settingsOf({ [name]: '/srv/own' }))).toContain('/srv/own');
});

test('nor a socket that the gate listens on; a name on PATH and a log that is off are no paths', () => {
  const env = { TUNEPLANE_LISTEN: 'unix:/run/gate.sock', TUNEPLANE_KERNEL_LOG: 'off' };
  expect(ownPaths(settingsOf(env))).toEqual(['/run/gate.sock']);
});
