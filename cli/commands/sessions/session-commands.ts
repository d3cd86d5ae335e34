import type { Command } from 'commander';
import type { CliContext } from '../../context.ts';
import { type ServerOptions, withServer } from '../../options.ts';
import { openPage } from '../service/open-command.ts';
import { changeCommands } from './change-sessions.ts';
import { readCommands } from './read-sessions.ts';
import { runCommand } from './run-session.ts';
import { outputCommands } from './session-output.ts';
import { waitCommand } from './wait-session.ts';

/** `muster session ...` */
export function sessionCommands(program: Command, context: CliContext): void {
  const noun = program.command('session').description('runs of a configuration on its hosts');
  runCommand(noun, context);
  readCommands(noun, context);
  outputCommands(noun, context);
  waitCommand(noun, context);
  changeCommands(noun, context);

  withServer(noun.command('open'))
    .description('open the page of a session in the web UI; writes its address')
    .argument('<name>')
    .action((name: string, options: ServerOptions) => openPage(context, options, 'session', name));
}
