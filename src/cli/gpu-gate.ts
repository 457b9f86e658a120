#!/usr/bin/env node
/** The entry point of the command `gpu-gate`: its subcommands, each loaded from its file when it runs. */

import { Command, CommanderError } from 'commander';
import { readBuild } from '../settings/build.js';
import { settingsHelp } from '../settings/help.js';
import { addClientCommands } from './client-commands.js';
import { keepHeapSmall } from './small-heap.js';
import { EXIT } from './terminal/exit-codes.js';

const program = new Command('gpu-gate')
  .description('Decides which job gets which GPU of this machine, and shows who has them.')
  .version(versionLine(), '--version', 'print the version')
  .helpCommand(false)
  .exitOverride()
  .showHelpAfterError('(gpu-gate --help lists the commands)');

program
  .command('serve')
  .description('run the gate')
  .usage('[flags]')
  .helpOption('-h, --help', 'print the settings')
  .argument('[flags...]')
  // The settings parse the flags themselves, so that all problems are reported together.
  .allowUnknownOption()
  .addHelpText('after', '\nExample:\n  $ gpu-gate serve --listen 127.0.0.1:9840 --log-level debug')
  .addHelpText('after', () => `\n${settingsHelp(Math.max(60, Math.min(process.stdout.columns ?? 100, 120)))}`)
  .action(async (flags: readonly string[]) => {
    keepHeapSmall();
    const { serve } = await import('./serve.js');
    await serve(flags);
  });

const token = program.command('token').description('tokens for callers');
token
  .command('new')
  .description('make a token: its line for the tokens file, and the token itself, shown this once')
  .addHelpText(
    'after',
    '\nExample:\n  # gpu-gate token new console --roles admit,release,read >> /etc/tuneplane/tokens',
  )
  .argument('<name>', 'the name of its user, recorded on containers and in the audit')
  .requiredOption('--roles <roles>', 'what it may do: admit, release, operate, read; several with commas')
  .action(async (name: string, options: { readonly roles: string }) => {
    const { printNewToken } = await import('./token.js');
    printNewToken(name, options.roles);
  });

program
  .command('doctor')
  .description('check whether this machine has what a gate with these settings needs, and say what to do')
  .usage('[--json] [--try-image <image>] [flags of serve]')
  .argument('[flags...]')
  .option('--json', 'print the findings as an array of {name, state, says, todo}')
  .option(
    '--try-image <image>',
    'also start a container of this image with a card for a moment, which shows as in use from outside',
  )
  .allowUnknownOption()
  .addHelpText(
    'after',
    `
Settings come from the environment and from flags, as for gpu-gate serve. Run it as the user of the gate, beside a running gate
or without one; it changes nothing.

Examples:
  $ gpu-gate doctor
  $ sudo -u gpu-gate env $(grep -v '^#' /etc/tuneplane/gpu-gate.env) gpu-gate doctor --listen 127.0.0.1:9840
  $ gpu-gate doctor --json | jq -r '.[] | select(.state != "ok") | .name'

Exit codes: 0 all is well, 1 there is something to look at or something could not be seen, 2 something is wrong.`,
  )
  .action(async (flags: readonly string[], options: { readonly json?: boolean; readonly tryImage?: string }) => {
    const { doctor } = await import('./doctor.js');
    await doctor(flags, options);
  });

addClientCommands(program);

program
  .command('demo')
  .description('try the gate without cards and without Docker: eight simulated cards, real jobs')
  .action(async () => {
    const { demo } = await import('./demo.js');
    await demo();
  });

try {
  await program.parseAsync();
} catch (error) {
  // Commander throws for help and the version too; what was wrong has been printed.
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
}

function versionLine(): string {
  const { version, revision } = readBuild();
  return `gpu-gate ${version} (${revision})`;
}
