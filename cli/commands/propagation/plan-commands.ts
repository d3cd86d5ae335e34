import { type Command, Option } from 'commander';
import type { CliContext } from '../../context.ts';
import { integer } from '../../input/pairs.ts';
import { FORMATS } from '../../output/render.ts';
import type { SimulateOptions } from './simulate-file.ts';

/** `muster plan ...` */
export function planCommands(program: Command, context: CliContext): void {
  const noun = program.command('plan').description('plans: which actions follow a change, in which order');

  noun
    .command('simulate')
    .description('build a plan from a file and run it on paper; nothing is stored and no server is asked')
    .argument('<file>', 'staged actions, events and outcomes, JSON or YAML; - is stdin')
    .addOption(new Option('-o, --output <format>', 'form of the data').choices([...FORMATS]).default('table'))
    .addOption(new Option('--graph <form>', 'show the graph instead').choices(['tree', 'dot']))
    .option('--around <node>', 'only the part of the graph around a node')
    .option('--depth <steps>', 'with --around: how far (default: 1)', integer(0))
    .option('--explain <node>', 'say why a node is in the plan, and what became of it')
    .action(async (file: string, options: SimulateOptions) => {
      // The rules and their schemas are loaded when they are wanted, to keep other commands fast.
      const { simulateFile } = await import('./simulate-file.ts');
      await simulateFile(context, file, options);
    });
}
