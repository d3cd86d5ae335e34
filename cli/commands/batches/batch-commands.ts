import { type Command, Option } from 'commander';
import {
  BATCH_STATES,
  type Batch,
  type BatchDetail,
  type BatcherDetail,
  type BatchKey,
} from '../../../domain/batches/batch-schema.ts';
import { type ApiClient, segment } from '../../client/api-client.ts';
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
import { batchDetails, batcherSummary, batchKeyView, batchView } from './batch-view.ts';

const PATH = '/api/v1/batches';

interface ListOptions extends OutputOptions, WatchOptions {
  all?: boolean;
  keys?: boolean;
  state?: string;
  key?: string;
  configuration?: string;
  limit?: number;
}

/** `muster batch ...` */
export function batchCommands(program: Command, context: CliContext): void {
  const noun = program.command('batch').description('components that are about to be configured by themselves');

  withWatch(withLimit(withOutput(noun.command('list'))))
    .description('list batches that have not ended, and why they are not sent yet')
    .option('--all', 'also those that ended in the last 7 days')
    .addOption(new Option('--state <state>', 'only those').choices(BATCH_STATES).conflicts('all'))
    .option('--key <key>', 'only those of the key')
    .option('--configuration <name>', 'only those of the configuration')
    .addOption(new Option('--keys', 'list the keys instead').conflicts(['all', 'state', 'key', 'configuration']))
    .action(async (options: ListOptions) => {
      const api = apiOf(context, options);
      await watching(context, options, () => list(context, api, options));
    });

  withOutput(noun.command('get'))
    .description('show a batch with its components')
    .argument('<id>')
    .action(async (id: string, options: OutputOptions) => {
      const path = `${PATH}/${segment(id)}`;
      const batch = await apiOf(context, options).json<BatchDetail>({ method: 'GET', path });
      const view = batchView(context.now());
      writeData(context, await renderOne(view, batch, options.output, () => batchDetails(batch)));
    });

  const command = (word: 'pause' | 'resume', description: string) =>
    withDryRun(withServer(noun.command(word)))
      .description(description)
      .option('--key <key>', 'only batches of the key')
      .action(async ({ key, ...options }: WriteOptions & { key?: string }) => {
        const request = { method: 'POST', path: `${PATH}/${word}`, body: { key } } as const;
        const batcher = await perform<BatcherDetail>(context, apiOf(context, options), request, options);
        if (batcher !== undefined) say(context, batcherSummary(batcher));
      });
  command('pause', 'send no batches any more; their sessions go on');
  command('resume', 'send batches again');

  withDryRun(withServer(noun.command('tick')))
    .description('ask for a pass now')
    .action(async (options: WriteOptions) => {
      const request = { method: 'POST', path: `${PATH}/tick` } as const;
      const batcher = await perform<BatcherDetail>(context, apiOf(context, options), request, options);
      if (batcher !== undefined) say(context, batcherSummary(batcher));
    });
}

async function list(context: CliContext, api: ApiClient, options: ListOptions): Promise<void> {
  const { all, keys, state = 'live', key, configuration, limit, output } = options;
  if (keys) {
    await writeList(context, batchKeyView, await allPages<BatchKey>(api, `${PATH}/keys`, 'keys', {}, limit), output);
    return;
  }
  const batches: Batch[] = [];
  for (const wanted of all ? ['live', 'ended'] : [state]) {
    const left = limit === undefined ? undefined : limit - batches.length;
    if (left === 0) break;
    batches.push(...(await allPages<Batch>(api, PATH, 'batches', { state: wanted, key, configuration }, left)));
  }
  await writeList(context, batchView(context.now()), batches, output);
  if (output !== 'table' && output !== 'wide') return;
  const { batcher } = await api.json<{ batcher: BatcherDetail }>({ method: 'GET', path: PATH, query: { limit: 1 } });
  say(context, batcherSummary(batcher));
}
