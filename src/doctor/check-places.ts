/** The checks of files, of the addresses to listen on, and of the state folder. */

import { stat } from 'node:fs/promises';
import { readRuleFile } from '../http/read-rule-file.js';
import { openTokensFile } from '../http/tokens-file.js';
import { openWebConfigFile } from '../http/web-config/web-config-file.js';
import { SILENT } from '../log/silent-log.js';
import { askFolder } from '../state/folder-facts.js';
import { defaultStateFolders } from '../state/usable-folder.js';
import { askPlace } from './ask-place.js';
import { check, skipped, type Check } from './check.js';
import type { Installation } from './installation.js';
import { judgeFolder, judgePlaces, judgeRuleFile } from './judge-places.js';
import { once } from './once.js';

export function checkPlaces({ settings, env, policyProblems, clock }: Installation): readonly Check[] {
  const { tokensFile, policyFile, webConfigFile, listen, metricsListen, stateDir } = settings;
  const places = once(() =>
    Promise.all([...listen, ...(metricsListen ?? [])].map(async (each) => [each, await askPlace(each)] as const)),
  );
  return [
    check('tokens-file', async () => {
      if (tokensFile === null) return skipped('none: the gate listens on loopback or a unix socket alone');
      const opened = await openTokensFile(tokensFile, { clock, log: SILENT });
      const problems = opened.kind === 'bad' ? opened.problems : opened.passedOver;
      const file = { path: tokensFile, mode: await modeOf(tokensFile), problems };
      return judgeRuleFile(
        file,
        'correct it: an invalid line permits nobody; chmod 0600, owner root or the user of the gate',
      );
    }),
    check('policy-file', async () => {
      if (policyFile === null) return skipped('none: the defaults are in the README');
      const file = {
        path: policyFile,
        mode: await modeOf(policyFile),
        problems: await textProblems(policyFile, policyProblems),
      };
      return judgeRuleFile(file, 'the gate does not start with it: correct it');
    }),
    check('web-config-file', async () => {
      if (webConfigFile === null) return skipped('none: TCP addresses speak plain HTTP');
      const opened = await openWebConfigFile({ path: webConfigFile, mustHaveTls: false, clock, log: SILENT });
      const problems = opened.kind === 'bad' ? opened.problems : [];
      const file = { path: webConfigFile, mode: await modeOf(webConfigFile), problems };
      return judgeRuleFile(file, 'the gate does not start with it: mend it');
    }),
    check('listen', async () => judgePlaces(await places())),
    check('state-folder', async () => {
      const folder = await askFolder(stateDir === null ? defaultStateFolders(env) : [stateDir]);
      return judgeFolder(
        folder,
        (await places()).some(([, { kind }]) => kind === 'gate'),
      );
    }),
  ];
}

async function modeOf(path: string): Promise<number | null> {
  return stat(path).then(
    ({ mode }) => mode,
    () => null,
  );
}

async function textProblems(path: string, problemsIn: Installation['policyProblems']): Promise<readonly string[]> {
  const read = await readRuleFile(path);
  return read.kind === 'text' ? problemsIn(path, read.text) : [read.problem];
}
