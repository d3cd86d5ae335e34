import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { ClusterView } from '../../../domain/deployments/schema.ts';
import { type ApiClient, segment } from '../../client/api-client.ts';
import { allPages } from '../../client/pages.ts';
import { sendForm } from '../../client/send-form.ts';
import { type CliContext, say } from '../../context.ts';
import { CliFailure, usage } from '../../failure.ts';
import {
  apiOf,
  type OutputOptions,
  perform,
  type WriteOptions,
  withDryRun,
  withLimit,
  withOutput,
} from '../../options.ts';
import { cell, type View } from '../../output/columns.ts';
import { writeList } from '../../output/render.ts';
import { previewRequests } from '../../preview.ts';

const SHORT = '/api/v1/clusters';
const PROVIDERS = '/v2/cluster-providers';

const view: View<ClusterView> = {
  noun: 'clusters',
  name: ({ provider, name }) => `${provider}+${name}`,
  columns: [
    { title: 'CLUSTER', value: ({ provider, name }) => `${provider}+${name}` },
    { title: 'CONNECTIVITY', value: (cluster) => cluster.connectivity },
    { title: 'VERSION', value: (cluster) => cell(cluster.version) },
    { title: 'LAST SEEN', value: (cluster) => cell(cluster.last_seen) },
    { title: 'CREDENTIAL ENDS', value: (cluster) => cell(cluster.credential_ends) },
    { title: 'DEPLOYMENTS', value: (cluster) => cell(cluster.deployments), wide: true },
    { title: 'LABELS', value: (cluster) => cell(cluster.labels.join(',')) },
    { title: 'REASON', value: (cluster) => cell(cluster.reason) },
    { title: 'MESSAGE', value: (cluster) => cell(cluster.message), wide: true },
    { title: 'SERVER', value: (cluster) => cluster.server, wide: true },
    { title: 'BY', value: (cluster) => cell(cluster.updated_by), wide: true },
  ],
};

interface AddOptions extends WriteOptions {
  provider: string;
  file: string;
  label?: string[];
}

/** `muster cluster ...`: the Kubernetes clusters that applications are deployed to. */
export function clusterCommands(program: Command, context: CliContext): void {
  const noun = program.command('cluster').description('Kubernetes clusters that applications are deployed to');

  withDryRun(withOutput(noun.command('add')))
    .description('register a cluster by its kubeconfig; a cluster that cannot be reached is registered all the same')
    .argument('<name>')
    .requiredOption('--provider <name>', 'who provides the cluster; made if it is not there')
    .requiredOption('-f, --file <kubeconfig>', 'kubeconfig with certificates and token inside; - reads stdin')
    .option('--label <label...>', 'label by which apps are placed; may be repeated')
    .action(async (name: string, options: AddOptions) => {
      const api = apiOf(context, options);
      const { provider, label = [] } = options;
      const path = clustersOf(provider);
      const labelled = { method: 'POST', path: `${path}/${segment(name)}/labels` } as const;
      const labels = label.map((word) => ({ ...labelled, body: { 'label-name': word } }));
      const made = { method: 'POST', path: PROVIDERS, body: { metadata: { name: provider } } } as const;
      if (options.dryRun) return previewRequests(context, api, [made, { method: 'POST', path }, ...labels], options);
      const kubeconfig = await readKubeconfig(context, options.file);
      await unlessThere(api.json(made));
      await sendForm(api, { method: 'POST', path }, { metadata: { name } }, kubeconfig);
      for (const request of labels) await api.json(request);
      say(context, `cluster ${provider}+${name} registered`);
    });

  withLimit(withOutput(noun.command('list')))
    .description('list clusters with their connectivity')
    .action(async (options: OutputOptions & { limit?: number }) => {
      const clusters = await allPages<ClusterView>(apiOf(context, options), SHORT, 'clusters', {}, options.limit);
      await writeList(context, view, clusters, options.output);
    });

  withOutput(noun.command('get'))
    .description('show a cluster')
    .argument('<cluster>', '<provider>+<name>')
    .action(async (cluster: string, options: OutputOptions) => {
      const found = await clusterOf(apiOf(context, options), cluster);
      await writeList(context, view, [found], options.output);
    });

  withDryRun(withOutput(noun.command('label')))
    .description('set labels of a cluster, or remove them')
    .argument('<cluster>', '<provider>+<name>')
    .argument('<label...>')
    .option('--remove', 'remove the labels')
    .action(async (cluster: string, labels: string[], options: WriteOptions & { remove?: boolean }) => {
      const path = `${pathOf(cluster)}/labels`;
      const api = apiOf(context, options);
      for (const label of labels) {
        const request = options.remove
          ? ({ method: 'DELETE', path: `${path}/${segment(label)}` } as const)
          : ({ method: 'POST', path, body: { 'label-name': label } } as const);
        await perform(context, api, request, options);
      }
      if (!options.dryRun) say(context, `cluster ${cluster} ${options.remove ? 'has lost its labels' : 'labelled'}`);
    });

  withDryRun(withOutput(noun.command('rotate')))
    .description("replace a cluster's kubeconfig; running work takes the new one at its next connection")
    .argument('<cluster>', '<provider>+<name>')
    .requiredOption('-f, --file <kubeconfig>', 'the new kubeconfig; - reads stdin')
    .action(async (cluster: string, options: WriteOptions & { file: string }) => {
      const api = apiOf(context, options);
      const request = { method: 'PUT', path: pathOf(cluster) } as const;
      if (options.dryRun) return previewRequests(context, api, [request], options);
      const kubeconfig = await readKubeconfig(context, options.file);
      // What the record says of itself stays; a cluster that is not there is not made.
      const { metadata } = await api.json<{ metadata: object }>({ method: 'GET', path: pathOf(cluster) });
      await sendForm(api, request, { metadata }, kubeconfig);
      say(context, `credential of cluster ${cluster} replaced`);
    });

  withDryRun(withOutput(noun.command('delete')))
    .description('remove clusters with their credentials and labels')
    .argument('<cluster...>', '<provider>+<name>')
    .action(async (clusters: string[], options: WriteOptions) => {
      const api = apiOf(context, options);
      for (const cluster of clusters) {
        const { labels } = options.dryRun ? { labels: [] } : await clusterOf(api, cluster);
        const paths = [...labels.map((label) => `${pathOf(cluster)}/labels/${segment(label)}`), pathOf(cluster)];
        for (const path of paths) await perform(context, api, { method: 'DELETE', path }, options);
        if (!options.dryRun) say(context, `cluster ${cluster} removed`);
      }
    });
}

function clustersOf(provider: string): string {
  return `${PROVIDERS}/${segment(provider)}/clusters`;
}

/** Returns the path of `<provider>+<name>`. Throws a `CliFailure` for another form. */
function pathOf(cluster: string): string {
  const [provider = '', name = '', ...more] = cluster.split('+');
  if (provider === '' || name === '' || more.length > 0) {
    throw usage(`'${cluster}' is no cluster`, 'name it as <provider>+<name>; `./muster cluster list` shows them');
  }
  return `${clustersOf(provider)}/${segment(name)}`;
}

async function clusterOf(api: ApiClient, cluster: string): Promise<ClusterView> {
  return await api.json<ClusterView>({ method: 'GET', path: `${SHORT}/${segment(cluster)}` });
}

async function unlessThere(made: Promise<unknown>): Promise<void> {
  await made.catch((error: unknown) => {
    if (!(error instanceof CliFailure) || error.code !== 'already_exists') throw error;
  });
}

async function readKubeconfig(context: CliContext, file: string): Promise<Uint8Array> {
  if (file !== '-') {
    return await readFile(file).catch((error: NodeJS.ErrnoException) => {
      throw usage(`${file} cannot be read (${error.code ?? 'unknown reason'})`);
    });
  }
  const chunks: Buffer[] = [];
  for await (const chunk of context.stdin) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks);
}
