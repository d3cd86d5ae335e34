import { type Command, CommanderError } from 'commander';
import { CheckedCommand } from './checked-command.ts';
import { tokenCommands } from './commands/access/token-commands.ts';
import { auditCommands } from './commands/audit/audit-commands.ts';
import { batchCommands } from './commands/batches/batch-commands.ts';
import { rolloutCommands } from './commands/batches/rollout-commands.ts';
import { componentCommands } from './commands/components/component-commands.ts';
import { configurationCommands } from './commands/configurations/configuration-commands.ts';
import { optionCommands } from './commands/configurations/option-commands.ts';
import { sourceCommands } from './commands/configurations/source-commands.ts';
import { imageCommands } from './commands/images/image-commands.ts';
import { importCommand } from './commands/import/import-command.ts';
import { operatorCommands } from './commands/operator/operator-commands.ts';
import { planCommands } from './commands/propagation/plan-commands.ts';
import { runCommands } from './commands/runs/run-commands.ts';
import { driftCommands } from './commands/schedules/drift-commands.ts';
import { scheduleCommands } from './commands/schedules/schedule-commands.ts';
import { secretCommands } from './commands/secrets/secret-commands.ts';
import { sessionCommands } from './commands/sessions/session-commands.ts';
import { backupCommands } from './commands/stack/backup-commands.ts';
import { stackCommands } from './commands/stack/stack-commands.ts';
import { trustCommands } from './commands/trust/trust-commands.ts';
import { webhookCommands } from './commands/webhooks/webhook-commands.ts';
import { type CliContext, say } from './context.ts';
import { CliFailure, EXIT, interrupted, mistakeLines } from './failure.ts';

const EXIT_STATUSES = `
Exit status: 0 done, 1 finished but failed, 2 usage, 3 not found, 4 not allowed, 5 conflict, 6 timed out,
7 unreachable, 130 interrupted.
Data goes to stdout, messages go to stderr.`;

/** The whole command line; its commands act through `context`. */
function program(context: CliContext): Command {
  const root = new CheckedCommand('muster')
    .version(context.version, '-V, --version', 'show the version')
    .description('Keeps fleets in their declared configuration.')
    .configureHelp({ sortSubcommands: false, helpWidth: context.err.columns() })
    .configureOutput({ writeOut: (text) => context.out.write(text), writeErr: (text) => context.err.write(text) })
    .showHelpAfterError('(--help shows how it is used)')
    .addHelpText('after', EXIT_STATUSES)
    .exitOverride();
  stackCommands(root, context);
  backupCommands(root, context);
  sessionCommands(root, context);
  componentCommands(root, context);
  driftCommands(root, context);
  configurationCommands(root, context);
  sourceCommands(root, context);
  imageCommands(root, context);
  batchCommands(root, context);
  rolloutCommands(root, context);
  optionCommands(root, context);
  secretCommands(root, context);
  scheduleCommands(root, context);
  importCommand(root, context);
  tokenCommands(root, context);
  auditCommands(root, context);
  trustCommands(root, context);
  webhookCommands(root, context);
  runCommands(root, context);
  operatorCommands(root, context);
  planCommands(root, context);
  return root;
}

/** Runs one command line (without the program's name) and answers its exit status; expected failures are printed. */
export async function runCli(args: string[], context: CliContext): Promise<number> {
  try {
    await program(context).parseAsync(args, { from: 'user' });
    return context.exit;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    const failure = context.signal.aborted && !(error instanceof CliFailure) ? interrupted() : error;
    if (!(failure instanceof CliFailure)) throw failure;
    printFailure(context, failure);
    return failure.exit;
  }
}

/** Says on stderr what failed, and what the user can do about it. */
export function printFailure(context: Pick<CliContext, 'err'>, failure: CliFailure): void {
  say(context, `error: ${failure.code}: ${failure.message}`);
  for (const line of mistakeLines(failure.mistakes)) say(context, line);
  if (failure.fix !== undefined) say(context, `  ${failure.fix}`);
}
