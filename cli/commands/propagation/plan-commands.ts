import { type Command, Option } from 'commander';
import type { CliContext } from '../../context.ts';
import { integer } from '../../input/pairs.ts';
import { withServer } from '../../options.ts';
import { FORMATS } from '../../output/formats.ts';
import { planControlCommands } from './plan-control-commands.ts';
import { planReadCommands } from './plan-read-commands.ts';
import type { SimulateOptions } from './simulate-file.ts';
import type { SimulateServerOptions } from './simulate-plan.ts';

/** `muster plan ...` */
export function planCommands(program: Command, context: CliContext): void {
  const noun = program.command('plan').description('plans: which actions follow a change, in which order');

  withServer(noun.command('simulate'))
    .description('run a plan on paper: of a file, which needs no server, of a stored plan, or of what is staged')
    .argument('[what]', 'file with staged actions, events and outcomes (JSON or YAML; - is stdin), or a plan')
    .option('--staged', 'the plan that the staged changes would make')
    .option('--tags <expression>', 'with --staged: only resources whose tags match')
    .option('--outcome <node=word...>', 'with --staged or a plan: how an action ends, as web.run=failed')
    .addOption(new Option('-o, --output <format>', 'form of the data').choices([...FORMATS]).default('table'))
    .addOption(new Option('--graph <form>', 'of a file: show the graph instead').choices(['tree', 'dot']))
    .option('--around <node>', 'of a file: only the part of the graph around a node')
    .option('--depth <steps>', 'with --around: how far (default: 1)', integer(0))
    .option('--explain <node>', 'of a file: say why a node is in the plan, and what became of it')
    .action(async (what: string | undefined, options: SimulateOptions & SimulateServerOptions) => {
      const { simulateOnServer } = await import('./simulate-plan.ts');
      if (await simulateOnServer(context, what, options)) return;
      // The rules and their schemas are loaded when they are wanted, to keep other commands fast.
      const { simulateFile } = await import('./simulate-file.ts');
      await simulateFile(context, what as string, options);
    });

  planReadCommands(noun, context);
  planControlCommands(noun, context);
}
