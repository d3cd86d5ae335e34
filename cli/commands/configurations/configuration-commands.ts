import type { Command } from 'commander';
import type { Configuration } from '../../../domain/configurations/schema.ts';
import { segment } from '../../client/api-client.ts';
import { allPages } from '../../client/pages.ts';
import { type CliContext, say } from '../../context.ts';
import {
  apiOf,
  type OutputOptions,
  perform,
  type WatchOptions,
  type WriteOptions,
  withDryRun,
  withLimit,
  withOutput,
  withServer,
  withWatch,
} from '../../options.ts';
import { renderOne, writeData, writeList } from '../../output/render.ts';
import { watching } from '../../watch.ts';
import { type DiffDirectoryOptions, diffDirectory } from '../directory/diff-directory.ts';
import { applyConfigurations } from './apply-configurations.ts';
import { configurationDetails, configurationView } from './configuration-view.ts';

const path = (name: string): string => `/v3/configurations/${segment(name)}`;

/** `muster configuration ...` */
export function configurationCommands(program: Command, context: CliContext): void {
  const noun = program.command('configuration').description('named, ordered layers of repositories and playbooks');

  withWatch(withLimit(withOutput(noun.command('list'))))
    .description('list configurations')
    .option('--in-use', 'only those that a component wants')
    .action(async (options: OutputOptions & WatchOptions & { limit?: number; inUse?: boolean }) => {
      const api = apiOf(context, options);
      await watching(context, options, async () => {
        const query = options.inUse ? { in_use: true } : {};
        const records = await allPages<Configuration>(
          api,
          '/v3/configurations',
          'configurations',
          query,
          options.limit,
        );
        await writeList(context, configurationView, records, options);
      });
    });

  withOutput(noun.command('get'))
    .description('show one configuration')
    .argument('<name>')
    .action(async (name: string, options: OutputOptions) => {
      const record = await apiOf(context, options).json<Configuration>({ method: 'GET', path: path(name) });
      writeData(context, await renderOne(configurationView, record, options.output, configurationDetails));
    });

  withDryRun(withOutput(noun.command('apply')))
    .description('create or replace configurations from JSON or YAML; branches are resolved to their commits')
    .requiredOption('-f, --file <file>', 'file with one or many records, - for stdin')
    .option('--clone-url <url>', 'repository of the layers that name none')
    .option('--branch <branch>', 'branch of the layers that name neither branch nor commit')
    .option('--drop-branches', 'store only the commits, not the branches they came from')
    .action((options) => applyConfigurations(context, options));

  withOutput(noun.command('diff'))
    .description('show what `apply` of a file would change; the exit status is 1 when anything differs')
    .requiredOption('-f, --file <file>', 'file with one or many records, - for stdin')
    .action((options: DiffDirectoryOptions) => diffDirectory(context, options, 'configurations'));

  withDryRun(withServer(noun.command('delete')))
    .description('delete configurations that no component wants')
    .argument('<name...>')
    .action(async (names: string[], options: WriteOptions) => {
      const api = apiOf(context, options);
      for (const name of names) {
        await perform(context, api, { method: 'DELETE', path: path(name) }, options);
        if (!options.dryRun) say(context, `configuration ${name} deleted`);
      }
    });
}
