#!/usr/bin/env node
/** The command `gpu-gate`: what can be asked of it, and which file answers. Parts are loaded when they are needed. */

import { Command } from 'commander';
import { readBuild } from '../settings/build.js';
import { settingsHelp } from '../settings/help.js';

const program = new Command('gpu-gate')
  .description('Decides which job gets which GPU of this machine, and shows who has them.')
  .version(versionLine(), '--version', 'print the version')
  .helpCommand(false)
  .showHelpAfterError('(gpu-gate --help shows what there is)');

program
  .command('serve')
  .description('run the gate')
  .usage('[flags]')
  .helpOption('-h, --help', 'print the settings')
  .argument('[flags...]')
  // The settings read the flags themselves, so that all problems are reported together.
  .allowUnknownOption()
  .addHelpText('after', () => `\n${settingsHelp(Math.max(60, Math.min(process.stdout.columns ?? 100, 120)))}`)
  .action(async (flags: readonly string[]) => {
    const { serve } = await import('./serve.js');
    await serve(flags);
  });

const token = program.command('token').description('tokens for callers');
token
  .command('new')
  .description('make a token: its line for the tokens file, and the token itself, shown this once')
  .argument('<name>', 'who will use it; stands on the containers and in the audit line')
  .requiredOption('--roles <roles>', 'what it may do: admit, release, operate, read; several with commas')
  .action(async (name: string, options: { readonly roles: string }) => {
    const { printNewToken } = await import('./token.js');
    printNewToken(name, options.roles);
  });

await program.parseAsync();

function versionLine(): string {
  const { version, revision } = readBuild();
  return `gpu-gate ${version} (${revision})`;
}
