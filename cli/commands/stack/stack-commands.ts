import { type Command, Option } from 'commander';
import { type CliContext, type StackCommands, say } from '../../context.ts';
import { CliFailure, EXIT } from '../../failure.ts';
import { type OutputOptions, type WatchOptions, withOutput, withWatch } from '../../options.ts';
import { watching } from '../../watch.ts';
import { showStatus, tellNotices } from './show-status.ts';
import { type StopOptions, stop } from './stop-stack.ts';

/** `muster up`, `down` and `status`. */
export function stackCommands(program: Command, context: CliContext): void {
  program
    .command('up')
    .description(
      'start the embedded stack: Postgres, Temporal, API and worker; in the background unless told otherwise',
    )
    .option('--foreground', 'stay, show the log, and stop everything at Ctrl-C')
    .action(async ({ foreground }: { foreground?: boolean }) => {
      const stack = stackOf(context);
      if (foreground) {
        context.exit = await stack.foreground();
        return;
      }
      const { outcome, state } = await stack.up((line) => say(context, line), context.signal);
      const what = outcome === 'started' ? 'the stack is up' : 'the stack is up already';
      say(context, `${what} at ${state.links.api}; \`./muster down\` stops it`);
      await tellNotices(context, state.links.api);
    });

  program
    .command('down')
    .description('stop the embedded stack; refused while playbooks run')
    .addOption(
      new Option('--keep-runs', 'let running playbooks go on; the next `up` finds them').conflicts('cancelRuns'),
    )
    .option('--cancel-runs', 'cancel every session and reconcile of this stack that has not ended first')
    .option(
      '--url <url>',
      'API at which sessions are cancelled (default: that of this stack, whatever MUSTER_URL names)',
    )
    .action((options: StopOptions) => stop(context, stackOf(context), options));

  withWatch(withOutput(program.command('status')))
    .description('what runs where, in which version and health, and why something does not')
    .action((options: OutputOptions & WatchOptions) => watching(context, options, () => showStatus(context, options)));
}

/** The stack of this machine; a `CliFailure` where there is none. */
export function stackOf(context: CliContext): StackCommands {
  if (context.stack) return context.stack;
  throw new CliFailure('no_stack', 'there is no embedded stack here', EXIT.usage);
}
