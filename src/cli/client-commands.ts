/** The commands that query a running gate, with their help. The file of a command is loaded when it runs. */

import type { Command } from 'commander';
import { EXIT_HELP } from './terminal/exit-codes.js';

export function addClientCommands(program: Command): void {
  // What stands behind the image of `run` is the job's.
  program.enablePositionalOptions();
  asking(program, 'status', 'show the cards of a running gate, who holds them and why the others are not free')
    .option('-w, --watch', 'show it again every 2 s, until Ctrl-C')
    .option('--json', 'print what the gate answers (with --watch, one line each time)')
    .addHelpText(
      'after',
      help('gpu-gate status --watch', 'gpu-gate status --url unix:/run/gpu-gate.sock --json | jq .cards.counts'),
    )
    .action(async (options) => (await import('./status.js')).status(options));

  asking(program, 'check', 'say in one line whether cards are fit for work; for prologs and cron')
    .option('--cards <cards>', 'indices or uuids, several with commas; without it all cards')
    .option('--json', 'print {result, says, who} on one line')
    .addHelpText(
      'after',
      `${examples('gpu-gate check', 'gpu-gate check --cards "$SLURM_JOB_GPUS" || scontrol update NodeName="$(hostname -s)" State=DRAIN Reason=gpu')}

The running gate is asked; where none answers, the command looks itself, by the settings of the environment.

Exit codes: 0 they are fit; 1 one is unhealthy, taken out or not here; 2 wrong command line; 5 the gate refuses (4xx);
6 one could not be seen, or the gate cannot answer now (5xx).`,
    )
    .action(async (options) => (await import('./check.js')).check(options));

  asking(program, 'admit', 'post a request to start a job, and show what was decided')
    .requiredOption('-f, --file <file>', 'the request as JSON, as for POST /admit; - is standard input')
    .option('--dry-run', 'ask what would be decided now; changes nothing')
    .option('--wait [seconds]', 'while the gate answers wait, retry when it says so; without a number, for ever')
    .option('--json', 'print what the gate answered last')
    .addHelpText(
      'after',
      `${examples('gpu-gate admit -f train-17.json --wait', 'make-request | gpu-gate admit -f - --dry-run')}

Exit codes: 0 admitted, replayed or starting (with --dry-run: it would be); 2 wrong command line or file; 3 not its turn yet;
4 it has run and ended; 5 the gate refuses (4xx); 6 no gate answers, it cannot decide now, or the start failed (5xx); 130 Ctrl-C.`,
    )
    .action(async (options) => (await import('./admit.js')).admit(options));

  asking(program, 'runs', 'list the jobs of a running gate, and those that wait')
    .alias('ps')
    .option('--json', 'print what the gate answers')
    .addHelpText('after', help('gpu-gate runs'))
    .action(async (options) => (await import('./runs.js')).showRuns(options));

  asking(program, 'stop', 'tell a run of yours to end, and kill it if it does not')
    .argument('<run_id>')
    .option('--grace <seconds>', 'from the signal to end to the kill', '10')
    .addHelpText('after', help('gpu-gate stop train-17', 'gpu-gate stop train-17 --grace 120'))
    .action(async (runId: string, options) => (await import('./stop.js')).stopRun(runId, options));

  asking(program, 'logs', 'print what a run of yours printed')
    .argument('<run_id>')
    .option('-f, --follow', 'go on until it has ended, or until Ctrl-C')
    .option('-n, --tail <lines>', 'only the last so many lines')
    .addHelpText('after', help('gpu-gate logs train-17 -f', 'gpu-gate logs train-17 --tail 100'))
    .action(async (runId: string, options) => (await import('./logs.js')).showLogs(runId, options));

  asking(program, 'run', 'run a job on free cards: waits in line, shows its output, ends with its exit code')
    .argument('<image>')
    .argument('[command...]')
    .option('-n, --cards <number>', 'how many cards; 0 for a job without', '1')
    .option('--name <run_id>', 'its name; made of user, image and a few letters where none is given')
    .option('-e, --env <NAME=VALUE>', 'a variable; NAME alone takes the value that it has here', repeated)
    .option('-v, --volume <SOURCE:TARGET[:ro]>', 'a folder of the machine, or a volume', repeated)
    .option('-d, --detach', 'print the run_id once it runs, and do not stay')
    .option('-u, --user <user>', 'as whom it runs in the container')
    .option('-w, --workdir <folder>', 'where it starts')
    .option('--entrypoint <program>', "instead of the image's own")
    .option('-p, --publish <HOST:CONTAINER>', 'a port', repeated)
    .option('--network <name>', 'bridge or none, or what the policy allows')
    .option('--ipc <mode>', 'private, or what the policy allows')
    .option('--cpus <number>', 'a limit')
    .option('--memory-bytes <bytes>', 'a limit')
    .option('--shm-bytes <bytes>', 'the size of /dev/shm')
    .option('-l, --label <NAME=VALUE>', 'a label', repeated)
    .option('--ulimit <NAME=VALUE>', 'as memlock=-1', repeated)
    .option('--device <path>', 'a device that the policy allows', repeated)
    .option('--cap-add <name>', 'a capability that the policy allows', repeated)
    .option('--no-init', 'for an image whose own init must be pid 1')
    .passThroughOptions()
    .addHelpText(
      'after',
      `${examples('gpu-gate run --cards 2 -v /data/sets:/data:ro registry.local/train:1.4 python train.py', 'gpu-gate run --detach --name train-17 registry.local/train:1.4')}

Options stand before the image. Ctrl-C stops the job and waits for its end; a second one leaves it to itself.
The exit code is the job's own, or that of gpu-gate admit where none ran.`,
    )
    .action(async (image: string, command: string[], options) =>
      (await import('./run.js')).run(image, command, options),
    );

  asking(program, 'wait', 'wait for the end of a run, and end with its exit code')
    .argument('<run_id>')
    .addHelpText('after', help('gpu-gate wait train-17'))
    .action(async (runId: string, options) => (await import('./wait.js')).waitForRun(runId, options));

  asking(program, 'prune', "remove your runs that ended long enough ago; an operator removes everybody's")
    .requiredOption('--older <time>', 'as 7d, 12h or 30m')
    .addHelpText('after', help('gpu-gate prune --older 7d'))
    .action(async (options) => (await import('./prune.js')).prune(options));

  asking(program, 'remove', 'remove a run that has ended, so that its run_id can be used again')
    .argument('<run_id>')
    .option(
      '--lost',
      'remove a run of the process runtime that was started in a container which is gone for good: frees its cards, stops nothing',
    )
    .addHelpText('after', help('gpu-gate remove train-17', 'gpu-gate remove --lost train-17'))
    .action(async (runId: string, options) => (await import('./runs.js')).removeRun(runId, options));

  operating(
    program,
    'exclude',
    'take a card out; a job on it is left alone',
    'gpu-gate exclude 3 --reason "fan replacement"',
    'gpu-gate exclude 3 --reason "burn-in" --until 2h',
  )
    .requiredOption('--reason <reason>', 'the reason, for people who find the card excluded')
    .option('--until <when>', 'the card comes back by itself then: 30m, 2h, 7d, or a time like 2026-12-01T18:00:00Z');
  operating(program, 'include', 'take a card back that was excluded', 'gpu-gate include 3');
  operating(program, 'forget', 'forget a missing card that will not come back', 'gpu-gate forget GPU-8f6d…');
}

function asking(program: Command, name: string, description: string): Command {
  return program
    .command(name)
    .description(description)
    .option(
      '--url <url>',
      'address of the gate: http://host:port, https://host:port or unix:/path (TUNEPLANE_URL, else the first of TUNEPLANE_LISTEN, else 127.0.0.1:9840)',
    )
    .option(
      '--token-file <file>',
      'a file with the token to send (TUNEPLANE_TOKEN_FILE); never give a token on the command line, where others see it',
    )
    .option('--ca-file <file>', 'the CA that signed the certificate of the gate, PEM (TUNEPLANE_CA_FILE)')
    .option('--cert-file <file>', 'the client certificate, for a gate that asks for one, PEM (TUNEPLANE_CERT_FILE)')
    .option('--key-file <file>', 'the key of that certificate, PEM (TUNEPLANE_KEY_FILE)');
}

function operating(
  program: Command,
  name: 'exclude' | 'include' | 'forget',
  description: string,
  ...shownExamples: readonly string[]
): Command {
  return asking(program, name, description)
    .argument('<card>', 'its uuid, or its index now')
    .option('--json', 'print what the gate answers')
    .addHelpText('after', help(...shownExamples))
    .action(async (card: string, options) => (await import('./operate.js')).operate(name, card, options));
}

function repeated(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

function help(...lines: readonly string[]): string {
  return `${examples(...lines)}\n\n${EXIT_HELP}`;
}

function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`;
}
