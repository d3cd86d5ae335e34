import { type Command, Option } from 'commander';
import { segment } from '../../client/api-client.ts';
import type { CliContext } from '../../context.ts';
import { pair } from '../../input/pairs.ts';
import {
  apiOf,
  type OutputOptions,
  type WatchOptions,
  withDryRun,
  withLimit,
  withOutput,
  withServer,
  withWatch,
} from '../../options.ts';
import { isValueFormat } from '../../output/formats.ts';
import { renderOne, writeData } from '../../output/render.ts';
import { watching } from '../../watch.ts';
import { timelineCommand } from '../audit/audit-commands.ts';
import { applyComponents } from './apply-components.ts';
import { changeCommands } from './change-components.ts';
import { type ComponentAnswer, componentDetails, componentView } from './component-view.ts';
import { explainCommand } from './explain-component.ts';
import { lastTrouble } from './last-trouble.ts';
import { type ListOptions, listComponents } from './list-components.ts';
import { waitCommand } from './wait-components.ts';

/** `muster component ...` */
export function componentCommands(program: Command, context: CliContext): void {
  const noun = program.command('component').description('machines with their desired and reached configuration');

  withWatch(withLimit(withOutput(noun.command('list'))))
    .description('list components')
    .addOption(new Option('--status <status>').choices(['unconfigured', 'pending', 'failed', 'configured']))
    .option('--config <name>', 'only those that want this configuration')
    .option('--tag <name=value>', 'only those with the tag (may be repeated)', pair)
    .argument('[hosts...]', 'only these: a hostlist, as n[1-4],!n3 or @role=compute; - for stdin')
    .option('--ids <hosts>', 'another name of the hostlist')
    .option('--enabled', 'only enabled ones')
    .option('--no-enabled', 'only disabled ones')
    .action((words: string[], options: ListOptions) => listComponents(context, words, options));

  withWatch(withOutput(noun.command('get')))
    .description('show one component with what it should reach and what it reached')
    .argument('<id>')
    .action(async (id: string, options: OutputOptions & WatchOptions) => {
      const api = apiOf(context, options);
      const query = { state_details: true, config_details: true };
      await watching(context, options, async () => {
        const record = await api.json<ComponentAnswer>({ method: 'GET', path: `/v3/components/${segment(id)}`, query });
        const trouble = isValueFormat(options.output) ? null : await lastTrouble(api, record);
        const details = (shown: ComponentAnswer, wide: boolean) => componentDetails(shown, wide, trouble);
        writeData(context, await renderOne(componentView, record, options.output, details));
      });
    });

  timelineCommand(noun, context);

  changeCommands(noun, context);

  explainCommand(noun, context);

  waitCommand(noun, context);

  withDryRun(withServer(noun.command('apply')))
    .description('create components from JSON or YAML (PUT), or change what differs of those that exist (PATCH)')
    .requiredOption('-f, --file <file>', 'file with one or many records, - for stdin')
    .option('--replace', 'PUT all: existing ones lose what they reached')
    .option('--with-state', 'also write state and error_count of the file, which else only runs tell')
    .action((options) => applyComponents(context, options));
}
