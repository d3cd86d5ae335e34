import type { Command } from 'commander';
import type { DeploymentView } from '../../../domain/deployments/deployment-schema.ts';
import { allPages } from '../../client/pages.ts';
import { type CliContext, say } from '../../context.ts';
import { usage } from '../../failure.ts';
import {
  apiOf,
  type OutputOptions,
  perform,
  type WaitOptions,
  type WatchOptions,
  type WriteOptions,
  withDryRun,
  withLimit,
  withOutput,
  withServer,
  withWatch,
} from '../../options.ts';
import type { View } from '../../output/columns.ts';
import { renderList, renderValue, writeData, writeList } from '../../output/render.ts';
import { watching } from '../../watch.ts';
import { applyCommand } from './apply-command.ts';
import { deleteCommand } from './delete-command.ts';
import { DEPLOYMENT_ARGUMENT, DEPLOYMENTS, deploymentPath } from './deployment-path.ts';
import { deploymentView } from './deployment-view.ts';
import { eventsCommand } from './events-command.ts';
import { type DeploymentStatus, faultsOf, type ResourceRow, rowsOf, waitsFor } from './status-answer.ts';
import { statusTree } from './status-tree.ts';
import { waitForContext, withContextWait } from './wait-for-context.ts';

interface Narrowed {
  app?: string[];
  cluster?: string[];
  resource?: string[];
}

interface StatusOptions extends OutputOptions, WatchOptions, Narrowed {
  type: string;
}

const view: View<ResourceRow> = {
  noun: 'resources',
  name: ({ app, cluster, kind, name }) => `${app}/${cluster}/${name}+${kind}`,
  columns: [
    { title: 'APP', value: ({ app }) => app },
    { title: 'CLUSTER', value: ({ cluster }) => cluster },
    { title: 'KIND', value: ({ kind }) => kind },
    { title: 'NAME', value: ({ name }) => name },
    { title: 'NAMESPACE', value: ({ namespace }) => namespace, wide: true },
    { title: 'STATUS', value: ({ applied }) => applied },
    { title: 'CLUSTER STATUS', value: ({ present }) => present },
    { title: 'READY', value: ({ ready }) => ready },
    { title: 'REASON', value: ({ reason }) => reason },
    { title: 'MESSAGE', value: ({ message }) => message, wide: true },
    { title: 'CONNECTIVITY', value: ({ connectivity }) => connectivity, wide: true },
  ],
};

const faults: View<ResourceRow> = {
  noun: 'resources that are not well',
  name: view.name,
  columns: [
    { title: 'WHERE', value: ({ app, cluster }) => `${app} ${cluster}` },
    { title: 'RESOURCE', value: ({ kind, name }) => `${kind} ${name}` },
    { title: 'STATUS', value: ({ applied, ready }) => [applied, ready].filter((word) => word !== '').join(' ') },
    { title: 'REASON', value: ({ reason }) => reason },
    { title: 'WAITS FOR', value: waitsFor },
    { title: 'MESSAGE', value: ({ message }) => message },
  ],
};

const VERBS = {
  approve: { text: 'approve a deployment', done: 'approved', wait: false },
  instantiate: { text: 'bring a deployment to its clusters', done: 'is being instantiated', wait: true },
  terminate: { text: 'take a deployment off its clusters', done: 'is being terminated', wait: true },
  stop: { text: 'give up what a deployment still has to do', done: 'is being stopped', wait: true },
} as const;

/** `muster deployment ...`: what goes to member clusters, and what is there. */
export function deploymentCommands(program: Command, context: CliContext): void {
  const noun = program.command('deployment').description('applications on member clusters');

  applyCommand(noun, context);

  withLimit(withOutput(noun.command('list')))
    .description('list deployments with the counts of their resources')
    .action(async (options: OutputOptions & { limit?: number }) => {
      const api = apiOf(context, options);
      const all = await allPages<DeploymentView>(api, DEPLOYMENTS, 'deployments', {}, options.limit);
      await writeList(context, deploymentView, all, options);
    });

  withOutput(noun.command('get'))
    .description('show a deployment')
    .argument('<deployment>', DEPLOYMENT_ARGUMENT)
    .action(async (name: string, options: OutputOptions) => {
      const found = await apiOf(context, options).json<DeploymentView>({ method: 'GET', path: deploymentPath(name) });
      await writeList(context, deploymentView, [found], options);
    });

  withWatch(withNarrowed(withOutput(noun.command('status'))))
    .description('show what is where: a tree of app, cluster and resource')
    .argument('<deployment>', DEPLOYMENT_ARGUMENT)
    .option('--type <type>', 'rsync: what was applied; cluster: what is there; all: both', 'all')
    .action((name: string, options: StatusOptions) =>
      watching(context, options, () => showStatus(context, name, options)),
    );

  withNarrowed(withOutput(noun.command('explain')))
    .description('show only what is not well, why, and what Muster waits for')
    .argument('<deployment>', DEPLOYMENT_ARGUMENT)
    .action(async (name: string, options: OutputOptions & Narrowed) => {
      const status = await statusOf(context, name, { ...options, type: 'all' });
      await writeList(context, faults, faultsOf(rowsOf(status)), options.output);
    });

  eventsCommand(noun, context);
  deleteCommand(noun, context);

  for (const [verb, { text, done, wait }] of Object.entries(VERBS)) {
    const command = withDryRun(withServer(noun.command(verb)))
      .description(text)
      .argument('<deployment>', DEPLOYMENT_ARGUMENT);
    if (wait) withContextWait(command);
    command.action(async (name: string, options: WriteOptions & WaitOptions) => {
      if (!options.wait && options.timeout !== undefined) throw usage('--timeout needs --wait');
      const api = apiOf(context, options);
      const path = deploymentPath(name);
      await perform(context, api, { method: 'POST', path: `${path}/${verb}` }, options);
      if (options.dryRun) return;
      say(context, `deployment ${name} ${done}`);
      if (options.wait) await waitForContext(context, api, { name, path, timeout: options.timeout });
    });
  }
}

const withNarrowed = (command: Command): Command =>
  command
    .option('--app <app...>', 'these apps alone')
    .option('--cluster <cluster...>', 'these clusters alone, <provider>+<name>')
    .option('--resource <name...>', 'objects of these names alone');

async function showStatus(context: CliContext, name: string, options: StatusOptions): Promise<void> {
  const { output } = options;
  const status = await statusOf(context, name, options);
  if (output === 'table' || output === 'wide') return writeData(context, statusTree(name, status, output === 'wide'));
  const text =
    output === 'json' || output === 'yaml'
      ? await renderValue(status, output)
      : await renderList(view, rowsOf(status), output);
  writeData(context, text);
}

async function statusOf(
  context: CliContext,
  name: string,
  options: OutputOptions & Narrowed & { type: string },
): Promise<DeploymentStatus> {
  const { type, app = [], cluster = [], resource = [] } = options;
  const query = new URLSearchParams({ type });
  // A parameter may be repeated, and a plus is sent as what it is.
  for (const [parameter, values] of Object.entries({ app, cluster, resource })) {
    for (const value of values) query.append(parameter, value);
  }
  const path = `${deploymentPath(name)}/status?${query}`;
  return await apiOf(context, options).json<DeploymentStatus>({ method: 'GET', path });
}
