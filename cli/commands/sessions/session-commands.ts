import type { Command } from 'commander';
import type { CliContext } from '../../context.ts';
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
}
