import type { Command } from 'commander';
import type {
  OperatorReconcileView,
  OperatorResourceView,
  OperatorWatchView,
} from '../../../domain/operator/view-schema.ts';
import { segment } from '../../client/api-client.ts';
import { allPages } from '../../client/pages.ts';
import type { CliContext } from '../../context.ts';
import { apiOf, type OutputOptions, withLimit, withOutput } from '../../options.ts';
import { renderOne, writeData, writeList } from '../../output/render.ts';
import { findResource, type OperatorOption, pathOf, RESOURCES } from './find-resource.ts';
import { reconcileDetails, reconcileList, resourceDetails, resourceList, watchList } from './resource-view.ts';

/** Adds `--operator`. */
export const withOperator = (command: Command): Command =>
  command.option('--operator <name>', 'of this operator, where there are several');

/** Adds the arguments that name a resource. */
export const withResource = (command: Command): Command =>
  withOperator(command).argument('<kind>', 'in any case of letters').argument('<name>', 'NAME or NAMESPACE/NAME');

interface ListOptions extends OutputOptions, OperatorOption {
  kind?: string;
  namespace?: string;
  phase?: string;
  limit?: number;
}

/** Commands that show what operators watch, their resources, and the records of them. */
export function readCommands(noun: Command, context: CliContext): void {
  withOperator(withOutput(noun.command('watches')))
    .description('list the kinds that operators watch, with the state of each')
    .action(async ({ output, operator, ...server }: OutputOptions & OperatorOption) => {
      const request = { method: 'GET', path: '/api/v1/operator/watches', query: { operator } } as const;
      const { watches } = await apiOf(context, server).json<{ watches: OperatorWatchView[] }>(request);
      await writeList(context, watchList, watches, output);
    });

  withLimit(withOperator(withOutput(noun.command('list'))))
    .description('list custom resources: what each does, when it runs next and why')
    .option('--kind <kind>', 'only of this kind')
    .option('--namespace <name>', 'only in this namespace')
    .option('--phase <word>', 'only resources that are waiting, queued, running, backing_off, paused, deleting or gone')
    .action(async (options: ListOptions) => {
      const { operator, kind, namespace, phase, limit } = options;
      const query = { operator, kind, namespace, phase };
      const api = apiOf(context, options);
      const resources = await allPages<OperatorResourceView>(api, RESOURCES, 'resources', query, limit);
      await writeList(context, resourceList, resources, options.output);
    });

  withResource(withOutput(noun.command('get')))
    .description('show a custom resource: what it does and why, and what has made it run, the newest first')
    .action(async (kind: string, name: string, options: OutputOptions & OperatorOption) => {
      const api = apiOf(context, options);
      const found = await findResource(api, kind, name, options);
      const resource = await api.json<OperatorResourceView>({ method: 'GET', path: pathOf(found) });
      writeData(context, await renderOne(resourceList, resource, options.output, resourceDetails));
    });

  withLimit(withResource(withOutput(noun.command('reconciles'))))
    .description('list the reconciles of a custom resource, newest first, each with its cause')
    .action(async (kind: string, name: string, options: OutputOptions & OperatorOption & { limit?: number }) => {
      const api = apiOf(context, options);
      const path = `${pathOf(await findResource(api, kind, name, options))}/reconciles`;
      const records = await allPages<OperatorReconcileView>(api, path, 'reconciles', {}, options.limit);
      await writeList(context, reconcileList, records, options.output);
    });

  withOutput(noun.command('reconcile-get'))
    .description('show a reconcile: its cause, how it ended, and what it wrote')
    .argument('<id>')
    .action(async (id: string, options: OutputOptions) => {
      const path = `/api/v1/operator/reconciles/${segment(id)}`;
      const record = await apiOf(context, options).json<OperatorReconcileView>({ method: 'GET', path });
      writeData(context, await renderOne(reconcileList, record, options.output, reconcileDetails));
    });
}
